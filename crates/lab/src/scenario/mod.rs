//! What is asked of servers: the sites they serve, the requests, and the built-in campaigns.
