"""All that runs read from a disk and write to it."""
