"""What a project's configuration and its baseline say about a run: read elsewhere, judged and applied here, without touching a file."""
