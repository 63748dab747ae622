"""A prompt for the game of erasing: all that a small language model answers with any of its sentences gone.

    python -m faithbook.studies.together.games.erased_prompt

writes `data/examples/erased_prompt.json` again. The sentences are ours (`faithbook.sources.facts`). The file is
committed, so that the page needs no model.
"""

from __future__ import annotations

import json
from typing import Any

from faithbook.paths import root
from faithbook.show.page import write_whole
from faithbook.sources.facts import TEMPLATES, sentence_prompts
from faithbook.studies.language.language import language_model
from faithbook.studies.naopc.edin import AnswerTable
from faithbook.studies.together.games import answers, show
from faithlib.backends import Continuation
from faithlib.names import MethodName
from faithlib.perturb import Perturber
from faithlib.segmentation import cut

SENTENCES = 6
METHODS: dict[MethodName, dict[str, Any]] = {
    "occlusion": {},
    "input_x_gradient": {"aggregation": "sum"},
    "integrated_gradients": {"n_steps": 16},
    "lime": {"n_samples": 64, "seed": 0},
    "shapley_sampling": {"n_samples": 50, "seed": 0},
}


def game_of_prompt(model: Any, tokenizer: Any, *, sentences: int = SENTENCES) -> dict[str, Any]:
    """The game (`show.erasing_game`) on the first prompt of facts: the probability of the right city."""
    (prompt,) = sentence_prompts("facts", 1, sentences=sentences)
    lm = Continuation(model, tokenizer, TEMPLATES["facts"], prompt.answer, reading="probability")
    inputs = lm.inputs([prompt.text], unit="sentence")
    score = Perturber(lm, inputs, erase="delete")
    scores = answers.attributed(METHODS, lm, inputs, score)
    game = answers.erasing(AnswerTable([0], answers.every_answer(score)), scores)
    tables = [table.assign(model="smollm2") for table in (game.answers, game.items, game.orders)]
    names = {
        "text": f"“… {TEMPLATES['facts'].removeprefix('{text} ')}”",
        "model": "SmolLM2-135M, a small language model",
        "says": str(prompt.answer).strip(),
        "words": [prompt.text[start:end] for start, end in cut(prompt.text, "sentence")],
    }
    return show.erasing_game(*tables, named={("smollm2", 0): names}, methods=show.METHODS)


def main() -> None:
    """Write the file."""
    content = json.dumps(game_of_prompt(*language_model("smollm2")), ensure_ascii=False, indent=1) + "\n"
    write_whole(root() / show.ERASED_PROMPT, content.encode())
    print(f"{root() / show.ERASED_PROMPT}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
