"""Some words of the project's former dialect do not come back; plain words for them are at hand.

Pages, messages, comments and docstrings use the terms of the field in short active sentences. Names
in code do not count.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Former word -> plain words.
PLAIN = {
    r"all but everything": "nearly all",
    r"anew": "again",
    r"became of": "result of",
    r"beside": "next to, with, in addition to",
    r"came of": "result of",
    r"for ever": "forever, always",
    r"foretell\w*|foretold": "predict",
    r"hangs? together": "is correlated",
    r"heed\w*": "use, respect",
    r"in haste": "quickly",
    r"reckon\w*": "compute",
    r"told of": "reported, passed to",
    r"whence": "where from",
}
FORMER = re.compile(rf"\b({'|'.join(PLAIN)})\b", re.IGNORECASE)
FILES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorial").glob("*.py")),
    *sorted(
        path
        for folder in ("jaxgbg", "experiments", "notebooks", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py", ".js", ".html", ".j2") and path != Path(__file__)
    ),
]


def prose_of_python(source: str) -> str:
    """Comments, and constant texts of more than one word, since a single word may be a name."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    constants = [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)]
    return "\n".join([*comments, *(c for c in constants if isinstance(c, str) and " " in c)])


def prose_of_javascript(source: str) -> str:
    """Comments and quoted texts."""
    return "\n".join(re.findall(r"//.*|\"[^\"\n]* [^\"\n]*\"|`[^`]* [^`]*`", source))


def prose_of_template(source: str) -> str:
    """What a template has outside of its expressions."""
    return re.sub(r"\{[{%].*?[%}]\}", "", source, flags=re.DOTALL)


PROSE = {
    ".md": str,
    ".py": prose_of_python,
    ".js": prose_of_javascript,
    ".html": prose_of_template,
    ".j2": prose_of_template,
}


def former_words(path: Path, source: str) -> list[str]:
    """The former words in a file, each with plain ones."""
    found = FORMER.findall(" ".join(PROSE[path.suffix](source).split()))
    return [f"{word}: {plain_for(word)}" for word in found]


def plain_for(word: str) -> str:
    return next(plain for former, plain in PLAIN.items() if re.fullmatch(former, word, re.I))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_former_word_is_left(path: Path) -> None:
    assert former_words(path, path.read_text(encoding="utf-8")) == []


def test_all_kinds_of_files_are_read() -> None:
    assert len(FILES) > 600
    assert {path.suffix for path in FILES} == PROSE.keys()


def test_former_words_are_found_in_prose_alone() -> None:
    for name, source in (
        ("a.md", "It is made\nanew."),
        ("a.py", "# Made anew."),
        ("a.py", 'raise ValueError(f"{name} is made anew")'),
        ("a.js", "// Made anew."),
        ("a.html", "<p>Made anew.</p>"),
    ):
        assert former_words(Path(name), source) == ["anew: again"]
    assert former_words(Path("a.md"), "It heeds what a forecast had Foretold.") == [
        "heeds: use, respect",
        "Foretold: predict",
    ]
    for name, source in (
        ("a.md", "Besides, it is renewed."),
        ("a.py", "beside = table['anew']"),
        ("a.js", "const gone = beside;"),
        ("a.j2", "{% if foretold %}{{ foretold }}{% endif %}"),
    ):
        assert former_words(Path(name), source) == []
