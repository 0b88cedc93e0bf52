//! Opening a path below a root, and nothing outside it.
//!
//! The kernel does the check (`openat2` with `RESOLVE_BENEATH`), so that no race with a rename can
//! lead outside. Where it lacks that call, or where a link is absolute, the path is walked one
//! segment at a time with descriptors, which is as tight and slower.

use rustix::fs::{self, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most symbolic links followed on the way, as in the kernel.
const LINKS_MAX: usize = 40;

/// A folder that is served.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    /// Its path without links: what an absolute link has to start with to lead back in.
    canonical: PathBuf,
    identity: (u64, u64),
}

/// What was opened.
#[derive(Debug)]
pub struct Opened {
    /// The file or folder, opened for reading.
    pub fd: OwnedFd,
    /// Whether a symbolic link was followed. Watching the folders of the path then does not show
    /// every change of what it leads to.
    pub through_link: bool,
}

impl Root {
    /// Opens a folder.
    pub fn open(path: &Path) -> io::Result<Root> {
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        let directory = fs::open(path, flags, Mode::empty())?;
        let stat = fs::fstat(&directory)?;
        let canonical = std::fs::canonicalize(path)?;
        Ok(Root { directory, canonical, identity: (stat.st_dev, stat.st_ino) })
    }

    /// Whether `path` still leads to this folder; a link may have been pointed elsewhere.
    pub fn is_at(&self, path: &Path) -> bool {
        fs::stat(path).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.identity)
    }

    /// Opens a canonical path (it starts with a slash and has no dot segments) for reading,
    /// without ever blocking on what it finds.
    pub fn open_beneath(&self, path: &[u8]) -> Result<Opened, Errno> {
        let relative = match path.strip_prefix(b"/") {
            Some(b"") | None => b".",
            Some(relative) => relative,
        };
        let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let plain = open2(self.directory.as_fd(), relative, how | ResolveFlags::NO_SYMLINKS);
        match plain {
            Ok(fd) => return Ok(Opened { fd, through_link: false }),
            Err(Errno::LOOP) => {}
            Err(error) if !wants_walk(error) => return Err(error),
            Err(_) => return self.walk(relative),
        }
        match open2(self.directory.as_fd(), relative, how) {
            Ok(fd) => Ok(Opened { fd, through_link: true }),
            Err(error) if wants_walk(error) => self.walk(relative),
            Err(error) => Err(error),
        }
    }

    /// Opens a path one segment at a time. Each is opened without following links; a link is read
    /// and its segments take its place. The folders passed stay open, so that `..` goes back the
    /// way it came and never above the root.
    fn walk(&self, relative: &[u8]) -> Result<Opened, Errno> {
        let mut passed: Vec<OwnedFd> = Vec::new();
        let mut ahead: Vec<Vec<u8>> = segments(relative);
        let mut links = 0;
        while let Some(segment) = ahead.pop() {
            match segment.as_slice() {
                b"" | b"." => continue,
                b".." => {
                    passed.pop().ok_or(Errno::XDEV)?;
                    continue;
                }
                _ => {}
            }
            let here = passed.last().unwrap_or(&self.directory).as_fd();
            let name = OsStr::from_bytes(&segment);
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = fs::openat(here, name, flags, Mode::empty())?;
            let kind = FileType::from_raw_mode(fs::fstat(&fd)?.st_mode);
            if kind == FileType::Symlink {
                links += 1;
                if links > LINKS_MAX {
                    return Err(Errno::LOOP);
                }
                let target = fs::readlinkat(&fd, "", Vec::new())?;
                let target = target.as_bytes();
                if target.starts_with(b"/") {
                    ahead.extend(segments(self.within(target)?));
                    passed.clear();
                } else {
                    ahead.extend(segments(target));
                }
            } else if kind == FileType::Directory {
                passed.push(fd);
            } else if ahead.is_empty() {
                let file = reopen(here, name)?;
                return Ok(Opened { fd: file, through_link: true });
            } else {
                return Err(Errno::NOTDIR);
            }
        }
        let here = passed.last().unwrap_or(&self.directory).as_fd();
        Ok(Opened { fd: reopen(here, OsStr::new("."))?, through_link: true })
    }

    /// The part of an absolute link's target that is below the root.
    fn within<'a>(&self, target: &'a [u8]) -> Result<&'a [u8], Errno> {
        let root = self.canonical.as_os_str().as_bytes();
        let rest = target.strip_prefix(root).ok_or(Errno::XDEV)?;
        let is_below = matches!(rest, [] | [b'/', ..]) || root == b"/";
        if is_below { Ok(rest) } else { Err(Errno::XDEV) }
    }
}

/// Whether the walk may get further than the kernel's call did: the kernel is too old or a sandbox
/// forbids the call, a link is absolute, or a rename raced with it.
fn wants_walk(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM | Errno::XDEV | Errno::AGAIN | Errno::INVAL)
}

/// The last segment first: what is ahead is a stack.
fn segments(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect()
}

/// `O_NONBLOCK` keeps a FIFO from waiting for its other end; on regular files it means nothing.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

fn open2(root: BorrowedFd<'_>, path: &[u8], how: ResolveFlags) -> Result<OwnedFd, Errno> {
    fs::openat2(root, OsStr::from_bytes(path), READING, Mode::empty(), how)
}

fn reopen(folder: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    fs::openat(folder, name, READING | OFlags::NOFOLLOW, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder of files and links in every direction, removed in the end.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str) -> Tree {
            let base = std::env::temp_dir().join(format!("serval-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&base);
            let root = base.join("root");
            std::fs::create_dir_all(root.join("a/b")).unwrap();
            std::fs::write(base.join("secret"), "secret").unwrap();
            std::fs::write(root.join("a/b/file"), "inside").unwrap();
            std::fs::write(root.join("top"), "top").unwrap();
            symlink("a/b", root.join("in")).unwrap();
            symlink("../../top", root.join("a/b/up")).unwrap();
            symlink(root.join("a"), root.join("absolute")).unwrap();
            symlink("../secret", root.join("out")).unwrap();
            symlink(base.join("secret"), root.join("absolute-out")).unwrap();
            symlink(base.join("root-not"), root.join("prefix")).unwrap();
            std::fs::create_dir(base.join("root-not")).unwrap();
            std::fs::write(base.join("root-not/file"), "secret").unwrap();
            symlink("/proc/self/root/etc", root.join("magic")).unwrap();
            symlink("loop", root.join("loop")).unwrap();
            symlink("a/../../secret", root.join("dots")).unwrap();
            Tree(base)
        }

        fn root(&self) -> Root {
            Root::open(&self.0.join("root")).unwrap()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn content(opened: Opened) -> String {
        use std::io::Read;
        let mut text = String::new();
        std::fs::File::from(opened.fd).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn what_is_below_opens_and_what_is_not_does_not() {
        let tree = Tree::new("resolve");
        let root = tree.root();
        type Open = fn(&Root, &[u8]) -> Result<Opened, Errno>;
        let by_kernel: Open = |root, path| root.open_beneath(path);
        let by_walk: Open = |root, path| root.walk(&path[1..]);
        for open in [by_kernel, by_walk] {
            let read = |path: &str| open(&root, path.as_bytes()).map(content);
            for (path, text) in [
                ("/top", "top"),
                ("/a/b/file", "inside"),
                ("/in/file", "inside"),
                ("/absolute/b/file", "inside"),
                ("/a/b/up", "top"),
                ("/in/up", "top"),
            ] {
                assert_eq!(read(path).as_deref(), Ok(text), "{path}");
            }
            for path in
                ["/out", "/absolute-out", "/prefix/file", "/magic/passwd", "/loop", "/dots", "/x"]
            {
                assert!(open(&root, path.as_bytes()).is_err(), "{path}");
            }
            assert_eq!(open(&root, b"/top/x").unwrap_err(), Errno::NOTDIR);
            assert!(open(&root, b"/a").is_ok() && open(&root, b"/").is_ok());
        }
    }

    #[test]
    fn a_link_on_the_way_is_told() {
        let tree = Tree::new("through");
        let root = tree.root();
        assert!(!root.open_beneath(b"/a/b/file").unwrap().through_link);
        assert!(root.open_beneath(b"/in/file").unwrap().through_link);
        assert!(root.open_beneath(b"/absolute/b/file").unwrap().through_link);
    }

    #[test]
    fn a_root_that_is_a_link_can_be_pointed_elsewhere() {
        let tree = Tree::new("swap");
        let link = tree.0.join("current");
        symlink("root", &link).unwrap();
        let root = Root::open(&link).unwrap();
        assert!(root.is_at(&link));
        std::fs::remove_file(&link).unwrap();
        symlink("root-not", &link).unwrap();
        assert!(!root.is_at(&link));
    }
}
