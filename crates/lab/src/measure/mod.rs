//! What servers and the machine use: CPU time, memory, TCP counters, facts about the host.
