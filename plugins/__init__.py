"""The house's criteria. They come in by the entry point `jifs.plugins`, as anybody's do."""
