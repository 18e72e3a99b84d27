"""Other words for the same story. Only training uses them; the frozen test set keeps the templates' own wording.

A rule rewrites one sentence, or a part of it, without touching what it means or any number in it. Rules fire at random,
so that the sentence that carries a number is seen in many shapes. After the rules, sentences may be joined, the question
may move to the front, and a number that does not matter may appear.
"""

import re

from math_stories import PEOPLE, Story

NAME = r"([A-Z][a-z]+)"
N = r"(\d+)"
THING = r"([a-z]+)"
NAMES = {name for name, _ in PEOPLE}
BEFORE = ("Then", "Later", "After that", "After lunch", "The next day")

# (pattern, replacements); {1}, {2} ... are the pattern's groups.
RULES = [(re.compile(pattern), texts) for pattern, texts in (
    # what somebody has
    (rf"^{NAME} has {N} {THING}\.$", ("There are {2} {3} in the house of {1}.", "{1} starts with {2} {3}.", "{1} already has {2} {3}.",
                                      "At home {1} has {2} {3}.", "{1} takes {2} {3} to school.")),
    (rf"^{NAME} collects {N} {THING}\.$", ("{1} finds {2} {3}.", "In the morning {1} collects {2} {3}.", "{1} brings {2} {3}.")),
    # comparisons, also told from the other side
    (rf"^{NAME} has {N} more {THING} than {NAME}\.$", ("{4} has {2} fewer {3} than {1}.", "{1} has {2} {3} more than {4}.")),
    (rf"^{NAME} has {N} fewer {THING} than {NAME}\.$", ("{4} has {2} more {3} than {1}.", "{1} has {2} {3} fewer than {4}.")),
    (rf"^{NAME} is {N} years older than {NAME}\.$", ("{3} is {2} years younger than {1}.",)),
    (rf"^{NAME} is {N} years younger than {NAME}\.$", ("{3} is {2} years older than {1}.",)),
    (rf"^{NAME} has (?:twice|two times|2 times) as many {THING} as {NAME}\.$", ("{3} has half as many {2} as {1}.", "{3} has half of what {1} has.")),
    (rf"^{NAME} has half as many {THING} as {NAME}\.$", ("{3} has twice as many {2} as {1}.", "{1} has half of what {3} has.")),
    # getting and losing
    (rf"^(He|She) buys {N} more {THING}\.$", ("In a store {1:l} buys {2} {3}.", "{1} gets {2} more {3} from the store.", "Then {1:l} pays for {2} new {3}.",
                                              "{1} brings {2} more {3} from the market.")),
    (rf"^Then (he|she) finds {N} {THING}\.$", ("There are {2} more {3} on the table, and {1} takes them.", "{1:c} finds {2} new {3} in a box.")),
    (rf"^(He|She) sells {N} of the {THING}\.$", ("Of the {3}, {2} are sold.", "At the market {1:l} sells {2} {3}.")),
    (rf"^Later (he|she) gives away {N} {THING}\.$", ("Children get {2} of the {3}.", "{1:c} puts {2} {3} into a bag for a friend.")),
    (rf"^Then (he|she) loses {N} {THING}\.$", ("On a trip {1} loses {2} of the {3}.", "Then {2} of the {3} break.")),
    (rf"^(He|She) gives {N} {THING} to each of (his|her) {N} friends\.$", ("Each of {5} friends gets {2} {3}.", "There are {5} friends, and {1:l} gives each of them {2} {3}.")),
    (rf"^Then (he|she) sells half of the {THING}\.$", ("Half of the {2} are sold.", "On Monday {1} sells half of the {2}.")),
    # groups
    (rf"\b(boxes|bags|baskets|packs|jars) with {N} {THING} in each {THING}\b", ("{1} of {2} {3} each", "{1} and there are {2} {3} in each {4}", "{1} with {2} {3} each")),
    (rf"\bwith {N} {THING} (in|on) each {THING}\b", ("and {1} {2} {3} each {4}", "with {1} {2} each")),
    (rf"There are {N} {THING} in each {THING}\.", ("Each {3} has {1} {2}.", "In each {3} are {1} {2}.")),
    # money and time
    (rf"\bbuys {N} {THING} (?:for|at) {N} dollars each\.", ("buys {1} {2} that cost {3} dollars each.", "pays {3} dollars each for {1} {2}.")),
    (rf"\bfor {N} dollars each\b", ("at {1} dollars each",)),
    (r"\bevery (day|week|month|minute)\b", ("each {1}", "a {1}")),
    (r"\bevery hour\b", ("each hour", "an hour")),
    (rf"\bThis goes on for {N} (days|weeks|minutes)\.", ("It goes on for {1} {2}.", "This is done for {1} {2}.")),
    (rf"\b(He|She|They) (?:does|do) this for {N} (days|weeks|months)\.", ("This goes on for {2} {3}.", "This is done for {2} {3}.")),
    # questions
    (rf"^How many {THING} does {NAME} have now\?$", ("How many {1} does {2} have after that?", "How many {1} is that for {2} in the end?",
                                                     "After all that, how many {1} does {2} have?")),
    (rf"^How many {THING} does {NAME} have left\?$", ("How many {1} does {2} still have?", "How many {1} does {2} keep?", "How many {1} are left for {2}?")),
    (rf"^How many {THING} are left\?$", ("How many {1} are still there?", "How many of the {1} are left in the end?", "What is left of the {1}?")),
    (rf"^How many {THING} do they have together\?$", ("How many {1} are there in all?", "How many {1} is that together?", "How many {1} do they have if they put everything together?")),
    (rf"^How much money does {NAME} have now\?$", ("How many dollars does {1} have now?", "How many dollars does {1} have in the end?")),
    (rf"^How much money is left\?$", ("How many dollars are left?", "How many dollars are still there?")),
    (rf"^The {THING} are shared equally among {N} children\. How many {THING} does each child get\?$",
     ("All {1} go to {2} children equally. How many {1} is that for each of them?", "All the {1} are put into {2} equal groups. How many {1} are in each group?",
      "How many {1} does each of {2} children get if all get equally many?")),
    (rf"^If {N} friends share the {THING} equally, how many {THING} does each friend get\?$",
     ("Then {1} friends come and share all {2} equally. What does each of them get?", "How many {2} are there for each of {1} friends?")),
)]

# Numbers that do not matter; one is used only if its last noun is not what the story is about.
IDLE = ("A bus comes every {} minutes.", "The school has {} rooms.", "There are {} pictures in the library.", "The museum is {} miles away.",
        "There were {} children in the pool.", "The city has {} trees.",
        "It is {} minutes to the zoo.", "The farm is {} years old.")


def reword(s: Story) -> None:
    """Change the wording of a finished story."""
    if s.chance(0.3):
        return
    s.sentences = [rewrite(s, sentence) for sentence in s.sentences]
    if s.chance(0.15):
        idle(s)
    if s.chance(0.15):
        question_first(s)
    if s.chance(0.4):
        join(s)


def rewrite(s: Story, sentence: str) -> str:
    for pattern, texts in RULES:
        match = pattern.search(sentence)
        if match and s.chance(0.6):
            text = s.rng.choice(texts)
            sentence = sentence[:match.start()] + re.sub(r"\{(\d)(?::([lc]))?\}", lambda m: group(match, m), text) + sentence[match.end():]
            break
    first, _, rest = sentence.partition(" ")
    if first in ("Then", "Later") and s.chance(0.4):
        sentence = f"{s.rng.choice(BEFORE)} {rest}"
    return sentence


def group(match, reference) -> str:
    """The group a replacement refers to, with a small or capital first letter if it asks for one."""
    text = match[int(reference[1])]
    return {"l": text.lower, "c": text.capitalize, None: text.__str__}[reference[2]]()


def idle(s: Story) -> None:
    told = " ".join(s.sentences)
    fitting = [text for text in IDLE if not any(word in told for word in re.findall(r"[a-z]{4,}", text) if word != "there")]
    # Not in front of a sentence that refers to the one before it.
    places = [i for i, sentence in enumerate(s.sentences) if i == 0 or re.match(rf"{NAME} (?!of)", sentence) and not re.search(
        r"^(Then|Later|After|Half|Each|All|There|That|This|They|The|On|In|It|How)\b|\b(them|it|others|rest|one)\b", sentence)]
    if fitting:
        s.sentences.insert(s.rng.choice(places), s.rng.choice(fitting).format(s.number(2, 60)))


def question_first(s: Story) -> None:
    """Ask before telling, if the question stands alone and names what it asks about."""
    question = s.sentences[-1]
    if question.startswith("How") and question.count("?") == 1 and question.endswith("?") and not re.search(
            r"\b(he|she|him|her|they|them|then|that|this|it|rest|others|now|there|still)\b|\d", question):
        s.sentences = [question] + s.sentences[:-1]


def join(s: Story) -> None:
    """Make one sentence of two: what somebody does next, or what happens then."""
    names = {name for name in re.findall(rf"\b{NAME}\b", " ".join(s.sentences)) if name in NAMES}
    for i in range(len(s.sentences) - 1):
        one, two = s.sentences[i], s.sentences[i + 1]
        if not one.endswith(".") or "?" in two or not s.chance(0.5):
            continue
        subject = re.match(r"(He|She) (?!also|already)", two)
        if subject and len(names) == 1 and one.split()[0] in names | {"He", "She"} and ". " not in one:
            s.sentences[i:i + 2] = [f"{one[:-1]} and {two[len(subject[0]):]}"]
            return
        if re.match(r"(Then|Later|After) ", two):
            s.sentences[i:i + 2] = [f"{one[:-1]}, and {two[0].lower()}{two[1:]}"]
            return
