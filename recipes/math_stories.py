"""What the stories of math_problems.py are made of; the folder stories/ holds the templates, one function each.

A template draws its numbers, says sentences in one of several phrasings, and records the steps of the solution in the
order a pupil would write them. Templates registered with `held_out=True` are kept for the test set; they use the same
everyday words as the others but tell them in combinations that training never shows.
"""

import random

LARGEST = 300  # numbers up to here are whole tokens; a story that leaves the range is thrown away

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b and a % b == 0 else None,
}


class Reject(Exception):
    """The drawn numbers do not make a sensible story; draw again."""


class Story:
    """What a template writes into: sentences of the question and steps of the solution."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.sentences: list[str] = []
        self.steps: list[str] = []
        self.last = None
        self.finish = lambda story: None  # what is done to the words once the story is accepted

    def say(self, *phrasings: str) -> None:
        self.sentences.append(self.rng.choice(phrasings))

    def say_shuffled(self, *facts: str) -> None:
        """Say sentences whose order does not matter in any order."""
        self.sentences += self.rng.sample(facts, len(facts))

    def step(self, label: str, a: int, op: str, b: int) -> int:
        c = OPERATIONS[op](a, b)
        if c is None or not 0 < c <= LARGEST or max(a, b) > LARGEST:
            raise Reject
        self.steps.append(f"{label}: {a} {op} {b} = {c}")
        self.last = c
        return c

    def number(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def insert_aside(self, sentence: str) -> None:
        """Put a sentence that does not matter somewhere before the last one said so far (never in front)."""
        self.sentences.insert(self.rng.randint(1, max(1, len(self.sentences) - 1)), sentence)


TEMPLATES: dict = {}

HE = ("he", "his", "him")
SHE = ("she", "her", "her")
PEOPLE = [(name, HE) for name in (
    "Tom", "Ben", "Sam", "Max", "Leo", "Jack", "Omar", "Luis", "Adam", "Noah", "Ivan", "Paul", "Carlos", "David", "Eric",
    "Frank", "George", "Henry", "Kevin", "Peter")] + [(name, SHE) for name in (
        "Anna", "Mia", "Lucy", "Sara", "Emma", "Lily", "Nina", "Rosa", "Zoe", "Amy", "Clara", "Diana", "Ella", "Grace",
        "Helen", "Julia", "Kate", "Maria", "Olivia", "Tina")]
ITEMS = ("apples", "oranges", "books", "pencils", "stickers", "marbles", "cards", "coins", "shells", "stamps", "cookies",
         "candies", "flowers", "balloons", "toys", "stones", "beads", "buttons", "peaches", "eggs")
BOXES = (("box", "boxes"), ("bag", "bags"), ("basket", "baskets"), ("pack", "packs"), ("jar", "jars"))
FAMILY = ("brother", "sister", "mother", "father", "uncle", "aunt", "friend", "cousin", "teacher", "neighbor")
TIMES = {2: ("twice", "two times", "2 times"), 3: ("three times", "3 times"), 4: ("four times", "4 times"),
         5: ("five times", "5 times")}


def template(function=None, *, held_out=False, weight=1):
    """`weight`: how often training tells the story, as a multiple of others."""
    def register(tell):
        TEMPLATES[tell.__name__] = (tell, held_out)
        tell.weight = weight
        return tell
    return register(function) if function else register


# ---- pieces that many stories share ---------------------------------------------------------------------------------

def people(s: Story, count: int):
    return s.rng.sample(PEOPLE, count)


def times(s: Story, factor: int) -> str:
    return s.rng.choice(TIMES[factor])


def divisor(s: Story, x: int, low: int, high: int) -> int:
    """Something that divides x without a rest; the story is thrown away if there is nothing."""
    fitting = [d for d in range(low, high + 1) if x % d == 0 and x > d]
    if not fitting:
        raise Reject
    return s.rng.choice(fitting)


def aside(s: Story, name: str, item: str) -> None:
    """Now and then a number that has nothing to do with the question."""
    if s.chance(0.25):
        other = s.rng.choice([i for i in ITEMS if i != item])
        n = s.number(2, 40)
        s.insert_aside(s.rng.choice((
            f"{name} is {s.number(6, 14)} years old.", f"{name} also has {n} {other}.",
            f"The house of {name} has {s.number(2, 9)} rooms.", f"A friend of {name} has {n} {other}.",
            f"It is {s.number(2, 30)} miles to the school.")))


def gain(s, who, x, item):
    he, his, him = who[1]
    b = s.number(2, 50)
    s.say(f"{he.capitalize()} buys {b} more {item}.", f"Then {he} finds {b} {item}.",
          f"{his.capitalize()} {s.rng.choice(FAMILY)} gives {him} {b} {item}.", f"Later {he} gets {b} more {item}.")
    return s.step(item, x, "+", b)


def lose(s, who, x, item):
    he, his, _ = who[1]
    b = s.number(2, min(50, max(2, x - 1)))
    s.say(f"{he.capitalize()} gives {b} {item} to {his} {s.rng.choice(FAMILY)}.", f"Then {he} loses {b} {item}.",
          f"{he.capitalize()} sells {b} of the {item}.", f"Later {he} gives away {b} {item}.")
    return s.step("left", x, "-", b)


def gain_boxes(s, who, x, item):
    he = who[1][0]
    box, boxes = s.rng.choice(BOXES)
    p, q = s.number(2, 9), s.number(2, 12)
    s.say(f"{he.capitalize()} buys {p} {boxes} with {q} {item} in each {box}.",
          f"Then {he} gets {p} {boxes} of {item}. Each {box} has {q} {item}.")
    return s.step(item, x, "+", s.step(boxes, p, "*", q))


def lose_half(s, who, x, item):
    he, his, _ = who[1]
    s.say(f"{he.capitalize()} gives half of the {item} to {his} {s.rng.choice(FAMILY)}.", f"Then {he} sells half of the {item}.",
          f"{he.capitalize()} loses half of {his} {item}.")
    return s.step("left", x, "/", 2)


def give_friends(s, who, x, item):
    he, his, _ = who[1]
    p, q = s.number(2, 8), s.number(2, 9)
    s.say(f"{he.capitalize()} gives {q} {item} to each of {his} {p} friends.",
          f"Then each of {his} {p} friends gets {q} {item} from {who[1][2]}.")
    return s.step("left", x, "-", s.step("given", p, "*", q))


def grow_times(s, who, x, item):
    he = who[1][0]
    k = s.number(2, 4)
    s.say(f"A week later {he} has {times(s, k)} as many {item}.", f"After a month {he} has {times(s, k)} as many {item}.")
    return s.step(item, x, "*", k)


EVENTS = (gain, lose, gain, lose, gain_boxes, lose_half, give_friends, grow_times)


def events(s, who, x, item, low, high):
    for _ in range(s.number(low, high)):
        x = s.rng.choice(EVENTS)(s, who, x, item)
    return x


def how_many_now(s, who, item):
    name, (he, _, _) = who
    s.say(f"How many {item} does {name} have now?", f"How many {item} does {he} have in the end?",
          f"How many {item} does {name} have left?")


def share(s, x, item, low=2, high=9):
    """Split x among some children; only if it comes out even."""
    k = s.rng.choice([d for d in range(low, high + 1) if x % d == 0 and x // d > 1] or [0])
    if not k:
        raise Reject
    s.say(f"The {item} are shared equally among {k} children. How many {item} does each child get?",
          f"If {k} friends share the {item} equally, how many {item} does each friend get?")
    return s.step("each", x, "/", k)


def change(s, who, total):
    """Pay with more money than it costs."""
    name, (he, _, _) = who
    if total >= LARGEST:
        raise Reject
    money = s.rng.choice([m for m in (20, 30, 40, 50, 60, 80, 100, 150, 200, 250, 300) if m > total])
    s.say(f"{he.capitalize()} pays with {money} dollars. How many dollars does {he} get back?",
          f"{name} had {money} dollars. How many dollars does {he} have left?",
          f"If {name} has {money} dollars, how much money is left?")
    return s.step("left", money, "-", total)
