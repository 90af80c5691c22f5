#!/usr/bin/env python3
"""Cuts WordNet down to the relations that the offline planner looks words up in.

    scripts/thesaurus.py WORDNET_DICT_DIR > crates/planner/data/thesaurus.txt

WORDNET_DICT_DIR holds `data.noun`, `index.noun` and so on (WordNet 3.0; on Debian the package
`wordnet-base` has them in /usr/share/wordnet). One line per word, sorted by it:

    word other:score other:score …
    word/v other:score …

where `/v` marks verbs and score is 60 to 99: 99 for words that mean the same in their first sense,
less for later senses, for wider and narrower words and for words derived from each other. A
relation holds both ways, whichever of the two words a question uses. Irregular forms ("children",
"taught") are related to their base form.
"""

import collections
import pathlib
import re
import sys

POS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj"}
# How far a relation is trusted when both words are in their first sense.
SAME, WIDER, DERIVED, SIMILAR = 99, 80, 85, 70
KINDS = {"@": WIDER, "~": WIDER, "+": DERIVED, "&": SIMILAR, "\\": DERIVED}
# Senses are listed by frequency: each later one is trusted less, and few people mean the last ones.
BY_RANK = [1.0, 0.93, 0.86, 0.79, 0.72, 0.65]
LEAST, LEAST_WIDER = 60, 68
MOST_PER_WORD = 60
IRREGULAR = 97
WORD = re.compile(r"^[a-z]{3,}$")


def synsets(folder, pos):
    """offset -> (words, pointers) of one part of speech."""
    found = {}
    for line in (folder / f"data.{pos}").open():
        if line.startswith("  "):
            continue
        head = line.split("|")[0].split()
        count = int(head[3], 16)
        words = [re.sub(r"\(.*\)", "", head[4 + 2 * i]).lower() for i in range(count)]
        at = 4 + 2 * count
        pointers = [head[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(head[at]))]
        found[head[0]] = (words, pointers)
    return found


def ranks(folder, pos):
    """(word, offset) -> rank of that sense."""
    found = {}
    for line in (folder / f"index.{pos}").open():
        if line.startswith("  "):
            continue
        parts = line.split()
        count = int(parts[2])
        for rank, offset in enumerate(parts[-count:]):
            found[parts[0], offset] = rank
    return found


def common_words(folder):
    """Words that were met at least once in the texts that WordNet's counts come from."""
    return {line.split("%")[0] for line in (folder / "cntlist.rev").open() if int(line.split()[-1]) > 0}


def main():
    folder = pathlib.Path(sys.argv[1])
    data = {pos: synsets(folder, pos) for pos in ("noun", "verb", "adj")}
    rank = {pos: ranks(folder, pos) for pos in data}
    common = common_words(folder)
    scores = collections.defaultdict(lambda: collections.defaultdict(int))

    def trust(pos, word, offset):
        place = rank[pos].get((word, offset), 99)
        return BY_RANK[place] if place < len(BY_RANK) else 0.0

    def relate(a, b, score, least=LEAST):
        usable = WORD.match(a) and WORD.match(b) and a != b and (a in common or b in common)
        if usable and score >= least:
            scores[a][b] = max(scores[a][b], int(score))
            scores[b][a] = max(scores[b][a], int(score))

    # Schemas name things: what is done to them, and how they are, matters only where a noun is derived.
    for pos, sets in data.items():
        for offset, (words, pointers) in sets.items():
            here = {w: trust(pos, w, offset) for w in words}
            for a in words if pos == "noun" else []:
                for b in words:
                    relate(a, b, SAME * here[a] * here[b])
            for symbol, target, target_pos, ends in pointers:
                other_pos = POS.get(target_pos)
                base = KINDS.get(symbol)
                of_noun = "noun" in (pos, other_pos)
                if base is None or not of_noun or other_pos not in data or target not in data[other_pos]:
                    continue
                others = data[other_pos][target][0]
                source, end = int(ends[:2], 16), int(ends[2:], 16)
                for a in [words[source - 1]] if source else words:
                    for b in [others[end - 1]] if end else others:
                        least = LEAST_WIDER if base == WIDER else LEAST
                        relate(a, b, base * here[a] * trust(other_pos, b, target), least)

    verbs = {word for word, _ in rank["verb"] if WORD.match(word)}
    for pos in data:
        for line in (folder / f"{pos}.exc").open():
            form, base = line.split()[:2]
            if pos == "verb" and WORD.match(form):
                verbs.add(form)
            if WORD.match(form) and WORD.match(base) and form != base and base in common:
                scores[form][base] = IRREGULAR

    for word in sorted(scores.keys() | {verb for verb in verbs if verb in common}):
        best = sorted(scores[word].items(), key=lambda item: (-item[1], item[0]))[:MOST_PER_WORD]
        mark = "/v" if word in verbs else ""
        print(word + mark, " ".join(f"{other}:{score}" for other, score in sorted(best)))


main()
