"""The word problems' templates. Importing this package fills math_stories.TEMPLATES.

To add a story: write a function that takes a Story, draws numbers, says sentences and records steps, and put `@template`
above it. `python -m stories.check` tells whether it keeps the rules (labels and words that the tokenizer knows, texts
that fit, none of the test set's questions).
"""

from stories import choosing, comparing, composing, counting, doing, held_out, owning, spending  # noqa: F401
