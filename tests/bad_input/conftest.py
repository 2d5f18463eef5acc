"""What the tests of bad input share."""

import pytest


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
