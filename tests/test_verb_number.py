"""Sentences whose subject decides the verb, and the computation that asks who puts the subject first."""

from __future__ import annotations

from collections import Counter

from faithbook.sources.verb_number import ARE, IS, OTHERS, SUBJECT, SUBJECTS, beginnings


def test_the_subject_decides_the_verb() -> None:
    found = beginnings(2000)
    assert len(found) == 2000
    assert len({sentence.text for sentence in found}) == 2000
    assert Counter((sentence.verb, sentence.misleads) for sentence in found) == Counter(
        {(verb, misleads): 500 for verb in (IS, ARE) for misleads in (False, True)}
    )
    for text, verb, wrong, misleads in found:
        words = text.split()
        subject, other = words[SUBJECT], words[-1]
        assert {verb, wrong} == {IS, ARE}
        assert (verb == ARE) == (subject not in SUBJECTS)
        assert misleads == ((subject in SUBJECTS) != (other in OTHERS))
    assert {"boxes", "keys"} <= {sentence.text.split()[SUBJECT] for sentence in found}


def test_a_sample_is_the_beginning_of_a_larger_one() -> None:
    assert beginnings(40) == beginnings(400)[:40]
    assert beginnings(6, seed=1) != beginnings(6)
    assert len(beginnings(6)) == 6
