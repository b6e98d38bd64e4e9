"""Sentences and the roles of their parts."""

from __future__ import annotations

from typing import Any

from ....dataset.formats import roles
from ....dataset.formats.archives import format_of
from ....ground.fields import from_fields
from ....ground.public_names import list_public_names
from ....ground.tracebacks import api_boundaries
from .local import SET, TextSet, file_of


@SET
@from_fields
class Conll05st(TextSet):
    """Sentences and the roles of their parts (CoNLL 2005, the free test part): words, the five
    words around the verb, the verb, whether a word is one of those five, the tags.

    Args:
        word_dict_file, verb_dict_file, target_dict_file: lists of words, verbs and tags.
        emb_file: the words' vectors.
    """

    data_file: str | None = None
    word_dict_file: str | None = None
    verb_dict_file: str | None = None
    target_dict_file: str | None = None
    emb_file: str | None = None
    download: bool = True

    def begin(self, given: dict[str, Any]) -> None:
        def path(file: str, name: str) -> str:
            return file_of(given[file], "conll05st", f"conll05st%2F{name}", name)

        self.data_file = file_of(given["data_file"], "conll05st", "conll05st-tests.tar.gz")
        with format_of(self.data_file):
            self.word_dict = roles.load_dict(path("word_dict_file", "wordDict.txt"))
            self.predicate_dict = roles.load_dict(path("verb_dict_file", "verbDict.txt"))
            self.label_dict = roles.load_label_dict(path("target_dict_file", "targetDict.txt"))
            self.emb_file = path("emb_file", "emb")
            self._samples = [
                roles.numbers(words, verb, tags, *self.get_dict())
                for words, verb, tags in roles.sentences(self.data_file)
            ]

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """The numbers of words, verbs and tags."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """The path of the file with the words' vectors."""
        return str(self.emb_file)


list_public_names(globals())
api_boundaries(globals())
