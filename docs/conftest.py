"""What pytest leaves alone here: Sphinx runs it, with packages that the tests do not need."""

collect_ignore_glob = ["conf.py", "extensions/*", "gallery/*", "_build/*", "api/generated/*"]
