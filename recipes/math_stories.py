"""The stories behind math_problems.py: each template writes one kind of word problem.

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

    def say(self, *phrasings: str) -> None:
        self.sentences.append(self.rng.choice(phrasings))

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


def template(function=None, *, held_out=False):
    def register(tell):
        TEMPLATES[tell.__name__] = (tell, held_out)
        return tell
    return register(function) if function else register


# ---- pieces that many stories share ---------------------------------------------------------------------------------

def people(s: Story, count: int):
    return s.rng.sample(PEOPLE, count)


def times(s: Story, factor: int) -> str:
    return s.rng.choice(TIMES[factor])


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


# ---- stories seen in training ---------------------------------------------------------------------------------------

@template
def collection(s):
    [who] = people(s, 1)
    item = s.rng.choice(ITEMS)
    a = s.number(5, 80)
    s.say(f"{who[0]} has {a} {item}.", f"{who[0]} starts with {a} {item}.", f"There are {a} {item} in the room of {who[0]}.")
    events(s, who, a, item, 2, 5)
    aside(s, who[0], item)
    how_many_now(s, who, item)


@template
def collection_shared(s):
    [who] = people(s, 1)
    item = s.rng.choice(ITEMS)
    a = s.number(5, 80)
    s.say(f"{who[0]} has {a} {item}.", f"{who[0]} collects {a} {item}.")
    x = events(s, who, a, item, 1, 3)
    aside(s, who[0], item)
    share(s, x, item)


@template
def more_or_fewer(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    item = s.rng.choice(ITEMS)
    a, d = s.number(8, 70), s.number(2, 30)
    s.say(f"{n} has {a} {item}.", f"{n} collects {a} {item}.")
    if s.chance(0.5):
        s.say(f"{m} has {d} more {item} than {n}.", f"{m} has {d} {item} more than {n}.")
        b = s.step(m, a, "+", d)
    else:
        s.say(f"{m} has {d} fewer {item} than {n}.", f"{m} has {d} {item} fewer than {n}.")
        b = s.step(m, a, "-", d)
    if s.chance(0.5):
        f = s.number(2, 4)
        s.say(f"{k} has {times(s, f)} as many {item} as {m}.")
        c = s.step(k, b, "*", f)
        aside(s, n, item)
        s.say(f"How many {item} do they have together?", f"How many {item} do {n}, {m} and {k} have in all?")
        s.step("total", s.step("total", a, "+", b), "+", c)
    else:
        aside(s, n, item)
        s.say(f"How many {item} do they have together?", f"How many {item} do {n} and {m} have in all?")
        s.step("total", a, "+", b)


@template
def times_as_many(s):
    (n, _), (m, _) = people(s, 2)
    item = s.rng.choice(ITEMS)
    a, f = s.number(4, 60), s.number(2, 5)
    s.say(f"{n} has {a} {item}.", f"{n} finds {a} {item}.")
    s.say(f"{m} has {times(s, f)} as many {item} as {n}.")
    b = s.step(m, a, "*", f)
    if s.chance(0.4):
        d = s.number(2, 30)
        s.say(f"Then {m} loses {d} {item}.", f"Then {m} gives away {d} {item}.")
        b = s.step(m, b, "-", d)
    aside(s, m, item)
    if s.chance(0.5):
        s.say(f"How many {item} do they have together?", f"How many {item} do {n} and {m} have in all?")
        s.step("total", a, "+", b)
    else:
        s.say(f"How many more {item} does {m} have than {n}?")
        s.step("more", b, "-", a)


@template
def half_as_many(s):
    (n, _), (m, _) = people(s, 2)
    item = s.rng.choice(ITEMS)
    a = 2 * s.number(3, 60)
    s.say(f"{n} has {a} {item}.", f"{n} buys {a} {item}.")
    s.say(f"{m} has half as many {item} as {n}.", f"{m} has half as many.")
    b = s.step(m, a, "/", 2)
    aside(s, n, item)
    if s.chance(0.6):
        total = s.step("total", a, "+", b)
        s.say("They put everything together.", f"They put all the {item} on the table.")
        share(s, total, item)
    else:
        s.say(f"How many {item} do they have together?", f"How many {item} are there in all?")
        s.step("total", a, "+", b)


@template
def boxes(s):
    [who] = people(s, 1)
    name, (he, his, _) = who
    item, (box, many) = s.rng.choice(ITEMS), s.rng.choice(BOXES)
    p, q = s.number(2, 12), s.number(3, 20)
    s.say(f"{name} has {p} {many}. There are {q} {item} in each {box}.", f"{name} buys {p} {many} with {q} {item} in each {box}.")
    x = s.step(item, p, "*", q)
    x = events(s, who, x, item, 1, 2)
    aside(s, name, item)
    if s.chance(0.4):
        share(s, x, item)
    else:
        how_many_now(s, who, item)


@template
def shopping(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    one, two = s.rng.sample(ITEMS, 2)
    p, q, r, t = s.number(2, 9), s.number(2, 12), s.number(2, 9), s.number(2, 12)
    s.say(f"{name} buys {p} {one} for {q} dollars each and {r} {two} for {t} dollars each.",
          f"{name} goes to the store. {he.capitalize()} buys {p} {one} at {q} dollars each. Then {he} buys {r} {two} at {t} dollars each.")
    total = s.step("total", s.step(one, p, "*", q), "+", s.step(two, r, "*", t))
    aside(s, name, one)
    if s.chance(0.3):
        c = s.number(2, 30)
        s.say(f"{he.capitalize()} also pays {c} dollars for a bag.", f"{he.capitalize()} also buys lunch for {c} dollars.")
        total = s.step("total", total, "+", c)
    if s.chance(0.6):
        change(s, who, total)
    else:
        s.say(f"How much does {name} pay in all?", f"How many dollars does {he} spend?")


@template
def savings(s):
    [who] = people(s, 1)
    name, (he, his, _) = who
    a, b, c = s.number(2, 20), s.number(2, 12), s.number(3, 60)
    unit = s.rng.choice(("week", "month", "day"))
    s.say(f"{name} saves {a} dollars every {unit}.", f"{name} puts {a} dollars into a jar each {unit}.")
    s.say(f"{he.capitalize()} does this for {b} {unit}s.", f"After {b} {unit}s {he} opens the jar.")
    x = s.step("saved", a, "*", b)
    if s.chance(0.6):
        s.say(f"{his.capitalize()} {s.rng.choice(FAMILY)} gives {who[1][2]} {c} dollars more.", f"{he.capitalize()} already had {c} dollars.")
        x = s.step("money", x, "+", c)
    if s.chance(0.4):
        d = s.number(2, 40)
        s.say(f"Then {he} spends {d} dollars on {s.rng.choice(ITEMS)}.", f"Then {he} pays {d} dollars for a ticket.")
        x = s.step("left", x, "-", d)
    aside(s, name, "coins")
    if s.chance(0.5):
        price = x + s.number(3, 60)
        s.say(f"A bike costs {price} dollars. How many more dollars does {name} need?", f"How much more does {he} need for a game of {price} dollars?")
        s.step("more", price, "-", x)
    else:
        s.say(f"How much money does {name} have now?", f"How many dollars does {he} have in the end?")


@template
def reading(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    a, b = s.number(3, 30), s.number(2, 9)
    s.say(f"{name} reads {a} pages every day for {b} days.", f"{name} reads a book. For {b} days {he} reads {a} pages a day.")
    read = s.step("pages", a, "*", b)
    if s.chance(0.5):
        c = s.number(4, 40)
        s.say(f"The next day {he} reads {c} pages.", f"On Sunday {he} reads {c} more pages.")
        read = s.step("pages", read, "+", c)
    speed, days = s.number(2, 20), s.number(2, 9)
    book = read + speed * days
    s.say(f"The book has {book} pages.", f"There are {book} pages in the book.")
    left = s.step("left", book, "-", read)
    if s.chance(0.5):
        s.say(f"If {he} reads {speed} pages a day after that, how many days does {he} need for the rest?",
              f"Then {he} reads {speed} pages every day. How many days until the book is done?")
        s.step("days", left, "/", speed)
    else:
        s.say(f"How many pages are left?", f"How many pages does {name} still have to read?")


@template
def garden(s):
    [who] = people(s, 1)
    name, (he, his, _) = who
    plant = s.rng.choice(("flowers", "trees", "roses", "bushes"))
    r, c = s.number(2, 12), s.number(3, 15)
    s.say(f"{name} plants {r} rows of {plant} with {c} {plant} in each row.", f"There are {r} rows in the garden of {name}. Each row has {c} {plant}.")
    x = s.step(plant, r, "*", c)
    if s.chance(0.5):
        d = s.number(2, 20)
        s.say(f"In the winter {d} {plant} die.", f"A storm breaks {d} {plant}.")
        x = s.step("left", x, "-", d)
    if s.chance(0.4):
        g = s.number(2, 25)
        s.say(f"In the spring {he} plants {g} more {plant}.", f"Then {he} adds {g} {plant}.")
        x = s.step(plant, x, "+", g)
    aside(s, name, "flowers")
    if s.chance(0.4):
        k = s.number(2, 5)
        s.say(f"{he.capitalize()} sells all {plant} for {k} dollars each. How much money does {he} get?",
              f"If each one costs {k} dollars, how many dollars do all the {plant} cost?")
        s.step("dollars", x, "*", k)
    else:
        s.say(f"How many {plant} are in the garden now?", f"How many {plant} does {name} have in the end?")


@template
def bakery(s):
    [who] = people(s, 1)
    name, (he, his, _) = who
    food = s.rng.choice(("cookies", "muffins", "cakes", "rolls"))
    a, b, box = s.number(2, 9), s.number(4, 20), s.rng.choice(BOXES)
    s.say(f"{name} bakes {a} trays of {food} with {b} {food} on each tray.", f"{name} bakes {food}. There are {b} {food} on each of {a} trays.")
    x = s.step(food, a, "*", b)
    if s.chance(0.7):
        c = s.number(2, 20)
        s.say(f"{his.capitalize()} family eats {c} {food}.", f"The children eat {c} of the {food}.")
        x = s.step("left", x, "-", c)
    if s.chance(0.5):
        k = s.rng.choice([d for d in range(2, 13) if x % d == 0] or [0])
        if not k:
            raise Reject
        s.say(f"The rest is put into {box[1]} of {k}.", f"{he.capitalize()} puts {k} {food} into each {box[0]}.")
        x = s.step(box[1], x, "/", k)
        price = s.number(2, 9)
        s.say(f"{he.capitalize()} sells each {box[0]} for {price} dollars. How much money does {name} get?",
              f"Each {box[0]} costs {price} dollars. How many dollars do all the {box[1]} cost?")
        s.step("dollars", x, "*", price)
    else:
        s.say(f"How many {food} are left?", f"How many {food} does {name} have now?")


@template
def wages(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    rate, a, b = s.number(3, 15), s.number(2, 8), s.number(2, 8)
    s.say(f"{name} earns {rate} dollars an hour.", f"{name} gets {rate} dollars for each hour of work.")
    s.say(f"{he.capitalize()} works {a} hours on Monday and {b} hours on Tuesday.", f"On Monday {he} works {a} hours. On Tuesday {he} works {b} hours.")
    hours = s.step("hours", a, "+", b)
    if s.chance(0.3):
        c = s.number(2, 6)
        s.say(f"On Friday {he} works {c} more hours.", f"{he.capitalize()} also works {c} hours on Friday.")
        hours = s.step("hours", hours, "+", c)
    x = s.step("dollars", hours, "*", rate)
    aside(s, name, "coins")
    if s.chance(0.5):
        d = s.number(3, 60)
        s.say(f"Then {he} spends {d} dollars on {s.rng.choice(ITEMS)}.", f"Then {he} pays {d} dollars for lunch.")
        x = s.step("left", x, "-", d)
        s.say(f"How much money is left?", f"How many dollars does {name} have left?")
    else:
        s.say(f"How much money does {name} earn?", f"How many dollars does {he} get?")


@template
def trip(s):
    (n, (he, _, _)), = people(s, 1)
    v, h = s.number(5, 40), s.number(2, 7)
    s.say(f"{n} drives {v} miles every hour for {h} hours.", f"{n} drives for {h} hours at {v} miles an hour.")
    x = s.step("miles", v, "*", h)
    if s.chance(0.7):
        c = s.number(3, 60)
        s.say(f"After lunch {he} drives {c} more miles.", f"Then {he} rides {c} miles on a train.")
        x = s.step("miles", x, "+", c)
    if s.chance(0.6):
        total = x + s.number(5, 80)
        s.say(f"The whole trip is {total} miles. How many miles are left?", f"How many more miles does {n} need if the city is {total} miles away?")
        s.step("left", total, "-", x)
    else:
        k = s.number(2, 3)
        s.say(f"{he.capitalize()} does this trip {times(s, k)}. How many miles is that in all?")
        s.step("miles", x, "*", k)


@template
def classroom(s):
    r, c = s.number(3, 12), s.number(3, 12)
    s.say(f"A school has {r} rows of chairs with {c} chairs in each row.", f"There are {r} rows in a class and {c} children sit in each row.")
    x = s.step("children", r, "*", c)
    if s.chance(0.6):
        d = s.number(2, 15)
        s.say(f"Today {d} children are sick.", f"Then {d} children go home.")
        x = s.step("left", x, "-", d)
    if s.chance(0.4):
        e = s.number(2, 15)
        s.say(f"Then {e} new children come.", f"Later {e} more children come in.")
        x = s.step("children", x, "+", e)
    k = s.rng.choice([d for d in range(2, 10) if x % d == 0] or [0])
    if not k:
        raise Reject
    if s.chance(0.5):
        s.say(f"The teacher makes {k} equal groups. How many children are in each group?")
        s.step("each", x, "/", k)
    else:
        s.say(f"The teacher makes groups of {k}. How many groups are there?", f"How many groups of {k} children can the teacher make?")
        s.step("groups", x, "/", k)


@template
def farm(s):
    (n, _), = people(s, 1)
    big, small = s.rng.choice(("cows", "horses", "sheep", "goats")), s.rng.choice(("chickens", "ducks"))
    a, b = s.number(2, 30), s.number(2, 40)
    s.say(f"{n} has a farm with {a} {big} and {b} {small}.", f"There are {a} {big} and {b} {small} on the farm of {n}.")
    if s.chance(0.5):
        c = s.number(2, 20)
        s.say(f"Then {c} more {big} come.", f"{n} buys {c} more {big}.")
        a = s.step(big, a, "+", c)
    s.say("How many legs do the animals have in all?", "How many legs are there on the farm?")
    s.step("legs", s.step(big, a, "*", 4), "+", s.step(small, b, "*", 2))


@template
def homework(s):
    (n, (he, _, _)), = people(s, 1)
    a, f = s.number(5, 40), s.number(2, 3)
    s.say(f"{n} spends {a} minutes on math.", f"{n} works on math for {a} minutes.")
    s.say(f"{he.capitalize()} spends {times(s, f)} as many minutes on reading.", f"Reading takes {times(s, f)} as many minutes.")
    b = s.step("reading", a, "*", f)
    x = s.step("total", a, "+", b)
    if s.chance(0.6):
        c = s.number(5, 50)
        s.say(f"Then {he} plays music for {c} minutes.", f"Music takes {c} minutes.")
        x = s.step("total", x, "+", c)
    if s.chance(0.5):
        total = x + s.number(5, 60)
        s.say(f"{n} has {total} minutes. How many minutes are left?", f"How many of {total} minutes does {he} have left?")
        s.step("left", total, "-", x)
    else:
        s.say("How many minutes is that in all?", f"How many minutes does {n} need for everything?")


@template
def ages(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    a, d, f = s.number(4, 40), s.number(2, 20), s.number(2, 3)
    s.say(f"{n} is {a} years old.")
    if s.chance(0.5):
        s.say(f"{m} is {d} years older than {n}.")
        b = s.step(m, a, "+", d)
    else:
        s.say(f"{m} is {d} years younger than {n}.")
        b = s.step(m, a, "-", d)
    if s.chance(0.5):
        s.say(f"{k} is {times(s, f)} as old as {m}.")
        c = s.step(k, b, "*", f)
    else:
        e = s.number(2, 20)
        s.say(f"{k} is {e} years older than {m}.")
        c = s.step(k, b, "+", e)
    if s.chance(0.5):
        s.say(f"How old are {n}, {m} and {k} together?", "What do the three ages add up to?")
        s.step("total", s.step("total", a, "+", b), "+", c)
    elif s.chance(0.5):
        y = s.number(2, 20)
        s.say(f"How old is {k} in {y} years?", f"How old will {k} be after {y} years?")
        s.step(k, c, "+", y)
    else:
        s.say(f"How old is {k}?")


@template
def sold_in_parts(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    item = s.rng.choice(ITEMS)
    a, b = 2 * s.number(6, 70), s.number(2, 20)
    s.say(f"{name} brings {a} {item} to the market.", f"A store has {a} {item}.")
    s.say("Half of them are sold on Monday.", "On Monday half of them are sold.")
    x = s.step("left", a, "/", 2)
    s.say(f"On Tuesday {b} more are sold.", f"Then {b} {item} are sold on Tuesday.")
    x = s.step("left", x, "-", b)
    if s.chance(0.5):
        p = s.number(2, 6)
        s.say(f"The rest is sold for {p} dollars each. How much money is that?", f"Each of the others costs {p} dollars. How many dollars do they cost in all?")
        s.step("dollars", x, "*", p)
    else:
        s.say(f"How many {item} are left?", "How many are left in the end?")


@template
def laps(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, d = s.number(2, 12), s.number(2, 12), s.number(2, 9)
    what = s.rng.choice(("laps", "miles"))
    s.say(f"{n} runs {a} {what} every morning and {b} {what} every evening.", f"Each day {n} runs {a} {what} before school and {b} {what} after school.")
    x = s.step(what, s.step(what, a, "+", b), "*", d)
    s.say(f"{he.capitalize()} does this for {d} days.", f"This goes on for {d} days.")
    if s.chance(0.5):
        c = s.number(2, 30)
        s.say(f"On Sunday {he} runs {c} more {what}.", f"Then {he} runs {c} {what} with a friend.")
        x = s.step(what, x, "+", c)
    s.say(f"How many {what} does {n} run in all?", f"How many {what} is that in all?")


@template
def party(s):
    (n, (he, his, _)), = people(s, 1)
    item = s.rng.choice(("candies", "cookies", "balloons", "stickers"))
    k, q, extra = s.number(3, 20), s.number(2, 9), s.number(2, 30)
    s.say(f"{n} has a party with {k} children.", f"There are {k} children at the party of {n}.")
    s.say(f"Each child gets {q} {item}.", f"{n} wants to give {q} {item} to each child.")
    x = s.step(item, k, "*", q)
    if s.chance(0.4):
        s.say(f"{he.capitalize()} also wants {extra} {item} for the table.", f"{his.capitalize()} family gets {extra} {item}.")
        x = s.step(item, x, "+", extra)
    had = s.number(2, 40)
    s.say(f"{he.capitalize()} already has {had} {item}.")
    x = s.step("more", x, "-", had)
    if s.chance(0.4):
        p = s.number(2, 4)
        s.say(f"More {item} cost {p} dollars each. How many dollars does {n} need?")
        s.step("dollars", x, "*", p)
    else:
        s.say(f"How many more {item} does {n} need?")


@template
def bus(s):
    what = s.rng.choice(("bus", "train", "boat"))
    x = s.number(8, 60)
    s.say(f"A {what} starts with {x} people.", f"There are {x} people on a {what}.")
    for _ in range(s.number(1, 3)):
        off, on = s.number(2, 25), s.number(2, 25)
        s.say(f"At the next stop {off} people get off and {on} people get on.", f"Then {off} people leave and {on} people come in.")
        x = s.step("people", s.step("left", x, "-", off), "+", on)
    s.say(f"How many people are on the {what} now?", f"How many people are on the {what} in the end?")


@template
def library(s):
    a, b, c = s.number(3, 12), s.number(5, 25), s.number(5, 60)
    s.say(f"A library has {a} shelves with {b} books on each shelf.", f"There are {a} shelves in a library. Each shelf has {b} books.")
    x = s.step("books", a, "*", b)
    s.say(f"Children take {c} books home.", f"On Monday {c} books are taken home.")
    x = s.step("left", x, "-", c)
    if s.chance(0.6):
        d = s.number(2, 40)
        s.say(f"Then {d} books come back.", f"On Friday {d} books are brought back.")
        x = s.step("books", x, "+", d)
    if s.chance(0.3):
        e, f = s.number(2, 6), s.number(2, 9)
        s.say(f"The library also buys {e} boxes with {f} new books in each box.", f"Then {e} boxes of {f} new books come.")
        x = s.step("books", x, "+", s.step("boxes", e, "*", f))
    s.say("How many books are in the library now?", "How many books are there in the end?")


@template
def stall(s):
    (n, (he, _, _)), = people(s, 1)
    one, two = s.rng.sample(ITEMS, 2)
    a, p, b, q = s.number(3, 20), s.number(2, 9), s.number(3, 20), s.number(2, 9)
    s.say(f"{n} sells {a} {one} for {p} dollars each and {b} {two} for {q} dollars each.",
          f"At the market {n} sells {a} {one} at {p} dollars each. {he.capitalize()} also sells {b} {two} at {q} dollars each.")
    x = s.step("money", s.step(one, a, "*", p), "+", s.step(two, b, "*", q))
    c = s.number(3, 60)
    s.say(f"{he.capitalize()} paid {c} dollars for everything.", f"All of them cost {n} {c} dollars.")
    x = s.step("left", x, "-", c)
    if s.chance(0.4) and x % 2 == 0:
        s.say(f"{he.capitalize()} gives half of the rest to a friend. How much money does {n} keep?")
        s.step("left", x, "/", 2)
    else:
        s.say(f"How much money does {n} make?", f"How many dollars does {he} make in all?")


@template
def pizza(s):
    p, q, k, e = s.number(2, 15), s.number(4, 12), s.number(2, 12), s.number(2, 6)
    food, piece = s.rng.choice((("pizzas", "slices"), ("cakes", "pieces"), ("pies", "pieces")))
    s.say(f"There are {p} {food} with {q} {piece} each.", f"A teacher buys {p} {food}. Each one has {q} {piece}.")
    x = s.step(piece, p, "*", q)
    s.say(f"Each of {k} children eats {e} {piece}.", f"Then {k} children come and each eats {e} {piece}.")
    x = s.step("left", x, "-", s.step("eaten", k, "*", e))
    if s.chance(0.4):
        y = s.number(2, 15)
        s.say(f"Later {y} more {piece} are eaten.", f"Then the teacher eats {y} {piece}.")
        x = s.step("left", x, "-", y)
    s.say(f"How many {piece} are left?")


@template
def hens(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, d = s.number(2, 9), s.number(2, 5), s.number(2, 9)
    s.say(f"{n} has {a} chickens. Each one lays {b} eggs a day.", f"Each of the {a} chickens on a farm lays {b} eggs every day.")
    x = s.step("eggs", a, "*", b)
    s.say(f"{n} collects the eggs for {d} days.", f"This goes on for {d} days.")
    x = s.step("eggs", x, "*", d)
    if s.chance(0.5):
        c = s.number(2, 20)
        s.say(f"Then {c} eggs break.", f"{he.capitalize()} eats {c} eggs.")
        x = s.step("left", x, "-", c)
    if s.chance(0.5):
        p = s.rng.choice([k for k in range(3, 13) if x % k == 0] or [0])
        if not p:
            raise Reject
        s.say(f"The eggs are put into boxes of {p}. How many boxes are there?", f"How many boxes of {p} eggs can {n} make?")
        s.step("boxes", x, "/", p)
    else:
        s.say(f"How many eggs are there in the end?", f"How many eggs does {n} have?")


@template
def points(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    a, b, p, q = s.number(3, 20), s.number(3, 20), s.number(2, 5), s.number(2, 9)
    s.say(f"In a game a red card gives {p} points and a blue card gives {q} points.", f"In a game each red card is {p} points. Each blue card is {q} points.")
    s.say(f"{n} has {a} red cards and {b} blue cards.", f"{n} gets {a} red cards. Then {he} gets {b} blue cards.")
    x = s.step("points", s.step("red", a, "*", p), "+", s.step("blue", b, "*", q))
    if s.chance(0.4):
        c = s.number(2, 20)
        s.say(f"Then {he} loses {c} points.")
        x = s.step("points", x, "-", c)
    if s.chance(0.5):
        d = s.number(2, 40)
        s.say(f"{m} has {d} more points than {n}. How many points does {m} have?")
        s.step(m, x, "+", d)
    else:
        s.say(f"How many points does {n} have?")


@template
def tank(s):
    a, b = s.number(3, 25), s.number(3, 12)
    what = s.rng.choice(("tank", "pool", "barrel"))
    s.say(f"Each minute {a} liters of water run into a {what}.", f"A {what} gets {a} liters of water every minute.")
    s.say(f"This goes on for {b} minutes.", f"The water runs for {b} minutes.")
    x = s.step("liters", a, "*", b)
    if s.chance(0.5):
        c = s.number(3, 50)
        s.say(f"There were already {c} liters in the {what}.", f"The {what} already had {c} liters.")
        x = s.step("liters", x, "+", c)
    if s.chance(0.6):
        e, f = s.number(2, 9), s.number(2, 9)
        s.say(f"Then {e} people each take {f} liters.", f"Each of {e} people takes {f} liters of it.")
        x = s.step("left", x, "-", s.step("taken", e, "*", f))
        s.say(f"How many liters are left?", f"How many liters are in the {what} now?")
    else:
        full = x + s.number(5, 80)
        s.say(f"A full {what} has {full} liters. How many more liters does it need?")
        s.step("more", full, "-", x)


@template
def album(s):
    [who] = people(s, 1)
    name, (he, his, _) = who
    item = s.rng.choice(("stamps", "stickers", "cards", "pictures"))
    p, q, r = s.number(3, 15), s.number(2, 12), s.number(2, 40)
    s.say(f"{name} has a book with {p} pages. {he.capitalize()} puts {q} {item} on each page.", f"The book of {name} has {q} {item} on each of its {p} pages.")
    x = s.step(item, p, "*", q)
    s.say(f"{he.capitalize()} also has {r} {item} in a box.", f"There are {r} more {item} in a box.")
    x = s.step(item, x, "+", r)
    x = events(s, who, x, item, 0, 2)
    how_many_now(s, who, item)


@template
def tickets(s):
    (n, (he, _, _)), = people(s, 1)
    a, p, b, q = s.number(2, 9), s.number(5, 15), s.number(2, 15), s.number(2, 9)
    place = s.rng.choice(("zoo", "museum", "show", "pool"))
    s.say(f"A ticket for the {place} costs {p} dollars for adults and {q} dollars for children.", f"At the {place} adults pay {p} dollars and children pay {q} dollars.")
    s.say(f"{n} buys tickets for {a} adults and {b} children.", f"{n} pays for {a} adults and {b} children.")
    total = s.step("total", s.step("adults", a, "*", p), "+", s.step("children", b, "*", q))
    if s.chance(0.6):
        change(s, (n, (he, "", "")), total)
    else:
        s.say(f"How much does {n} pay in all?", "How many dollars is that in all?")


@template
def two_savers(s):
    (n, _), (m, _) = people(s, 2)
    a, b, w = s.number(2, 20), s.number(2, 20), s.number(2, 12)
    s.say(f"{n} saves {a} dollars every week and {m} saves {b} dollars every week.", f"Each week {n} saves {a} dollars. Each week {m} saves {b} dollars.")
    s.say(f"They do this for {w} weeks.", f"This goes on for {w} weeks.")
    x, y = s.step(n, a, "*", w), s.step(m, b, "*", w)
    if s.chance(0.5):
        s.say("How much money do they have together?", f"How many dollars do {n} and {m} have in all?")
        s.step("total", x, "+", y)
    else:
        s.say(f"How many more dollars does {n} have than {m}?")
        s.step("more", x, "-", y)


@template
def colors(s):
    item = s.rng.choice(("balls", "beads", "marbles", "balloons", "blocks"))
    a, d, f = s.number(4, 40), s.number(2, 20), s.number(2, 4)
    box = s.rng.choice(BOXES)[0]
    s.say(f"There are {a} red {item} in a {box}.", f"A {box} has {a} red {item}.")
    s.say(f"There are {d} more blue {item} than red {item}.", f"It also has {d} more blue {item} than red {item}.")
    b = s.step("blue", a, "+", d)
    x = s.step("total", a, "+", b)
    if s.chance(0.6):
        s.say(f"There are {times(s, f)} as many green {item} as red {item}.")
        c = s.step("green", a, "*", f)
        x = s.step("total", x, "+", c)
    if s.chance(0.4):
        e = s.number(2, 30)
        s.say(f"Then {e} {item} are taken out.", f"A child takes {e} {item} out.")
        x = s.step("left", x, "-", e)
    s.say(f"How many {item} are in the {box}?", f"How many {item} are there in all?")


@template
def teams(s):
    k, g = s.number(2, 12), s.number(2, 12)
    n, b, p = k * g, s.number(2, 5), s.number(2, 6)
    s.say(f"There are {n} children in a school.", f"A teacher has {n} children.")
    s.say(f"They make teams of {g}.", f"Each team has {g} children.")
    x = s.step("teams", n, "/", g)
    s.say(f"Each team needs {b} balls.", f"Every team gets {b} balls.")
    x = s.step("balls", x, "*", b)
    if s.chance(0.6):
        s.say(f"A ball costs {p} dollars. How many dollars do all the balls cost?", f"How much do the balls cost at {p} dollars each?")
        s.step("dollars", x, "*", p)
    else:
        c = s.number(2, 9)
        s.say(f"There are already {c} balls. How many more balls does the school need?")
        s.step("more", x, "-", c)


@template
def work_per_day(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    item = s.rng.choice(("chairs", "tables", "toys", "pictures", "letters"))
    a, b, d = s.number(2, 15), s.number(2, 15), s.number(2, 9)
    s.say(f"{n} makes {a} {item} a day and {m} makes {b} {item} a day.", f"Every day {n} makes {a} {item} and {m} makes {b} {item}.")
    x = s.step("each", a, "+", b)
    s.say(f"They work for {d} days.", f"They do this for {d} days.")
    x = s.step(item, x, "*", d)
    if s.chance(0.5):
        c = s.number(2, 40)
        s.say(f"Then {c} {item} break.", f"They give away {c} {item}.")
        x = s.step("left", x, "-", c)
    if s.chance(0.3):
        p = s.number(2, 4)
        s.say(f"They sell all the {item} for {p} dollars each. How much money is that?")
        s.step("dollars", x, "*", p)
    else:
        s.say(f"How many {item} do they have now?", f"How many {item} do they have in the end?")


# ---- stories kept for the test set ----------------------------------------------------------------------------------

@template(held_out=True)
def chain_of_friends(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    item = s.rng.choice(ITEMS)
    a, f, d = s.number(4, 40), s.number(2, 4), s.number(2, 30)
    s.say(f"{n} has {a} {item}.", f"{n} collects {a} {item}.")
    s.say(f"{m} has {times(s, f)} as many {item} as {n}.")
    b = s.step(m, a, "*", f)
    s.say(f"{k} has {d} fewer {item} than {m}.")
    c = s.step(k, b, "-", d)
    if s.chance(0.5):
        s.say(f"How many {item} do {n} and {k} have in all?")
        s.step("total", a, "+", c)
    else:
        s.say(f"How many {item} do they have together?")
        s.step("total", s.step("total", a, "+", b), "+", c)


@template(held_out=True)
def daily_sales(s):
    (n, (he, _, _)), = people(s, 1)
    a, p, d, c = s.number(2, 12), s.number(2, 5), s.number(2, 7), s.number(3, 30)
    item = s.rng.choice(("cakes", "pies", "cookies"))
    s.say(f"Every day {n} sells {a} {item} for {p} dollars each.", f"{n} sells {a} {item} a day at {p} dollars each.")
    x = s.step("dollars", a, "*", p)
    s.say(f"{he.capitalize()} does this for {d} days.", f"This goes on for {d} days.")
    x = s.step("dollars", x, "*", d)
    s.say(f"Then {he} pays {c} dollars for lunch.", f"Then {he} spends {c} dollars on {s.rng.choice(ITEMS)}.")
    x = s.step("left", x, "-", c)
    if s.chance(0.5):
        price = x + s.number(3, 50)
        s.say(f"A bike costs {price} dollars. How many more dollars does {n} need?")
        s.step("more", price, "-", x)
    else:
        s.say(f"How much money does {n} have now?", "How much money is left?")


@template(held_out=True)
def picnic(s):
    (n, (he, his, _)), = people(s, 1)
    a, b, c, food = s.number(3, 12), s.number(2, 6), s.number(2, 20), s.rng.choice(("rolls", "muffins", "cookies"))
    box, many = s.rng.choice(BOXES)
    q = s.number(4, 12)
    s.say(f"{n} buys {a} {many} of {food}. Each {box} has {q} {food}.", f"{n} gets {a} {many} with {q} {food} in each {box}.")
    x = s.step(many, a, "*", q)
    s.say(f"{he.capitalize()} also bakes {c} {food}.")
    x = s.step(food, x, "+", c)
    k = s.number(2, 9)
    s.say(f"Each of {k} people eats {b} {food}.")
    x = s.step("left", x, "-", s.step("eaten", k, "*", b))
    if s.chance(0.3) and x % 2 == 0:
        s.say(f"Then {he} gives half of the {food} to {his} {s.rng.choice(FAMILY)}.")
        x = s.step("left", x, "/", 2)
    s.say(f"How many {food} are left?")


@template(held_out=True)
def train_rows(s):
    a, b, c = s.number(3, 12), s.number(4, 20), s.number(3, 30)
    s.say(f"A train has {a} rows with {b} chairs in each row.", f"There are {a} rows on a train. Each row has {b} chairs.")
    x = s.step("chairs", a, "*", b)
    s.say(f"There are {c} people on the train.", f"The train starts with {c} people.")
    y = c
    if s.chance(0.6):
        e = s.number(2, 25)
        s.say(f"At the next stop {e} people get on.", f"Then {e} people come in.")
        y = s.step("people", y, "+", e)
    if s.chance(0.4):
        e = s.number(2, 15)
        s.say(f"Then {e} people leave.", f"Later {e} people get off.")
        y = s.step("people", y, "-", e)
    s.say("How many chairs are left?")
    s.step("left", x, "-", y)


@template(held_out=True)
def flower_groups(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, c = s.number(3, 40), s.number(3, 40), s.number(3, 40)
    s.say(f"{n} has {a} red flowers, {b} blue flowers and {c} green flowers.", f"There are {a} red flowers, {b} blue flowers and {c} green flowers in the garden of {n}.")
    x = s.step("total", s.step("total", a, "+", b), "+", c)
    if s.chance(0.5):
        d = s.number(2, 15)
        s.say(f"A storm breaks {d} flowers.", f"Then {he} loses {d} flowers.")
        x = s.step("left", x, "-", d)
    k = s.rng.choice([k for k in range(2, 10) if x % k == 0] or [0])
    if not k:
        raise Reject
    s.say(f"{he.capitalize()} makes groups of {k} flowers. How many groups are there?", f"How many groups of {k} flowers can {n} make?")
    x = s.step("groups", x, "/", k)
    if s.chance(0.4):
        p = s.number(2, 9)
        s.sentences[-1] = f"{he.capitalize()} makes groups of {k} flowers and sells each group for {p} dollars. How much money does {he} get?"
        s.step("dollars", x, "*", p)


@template(held_out=True)
def two_workers(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    r, a, d = s.number(3, 12), s.number(2, 9), s.number(2, 6)
    s.say(f"{n} earns {r} dollars an hour and works {a} hours.", f"{n} works {a} hours and gets {r} dollars an hour.")
    x = s.step(n, r, "*", a)
    s.say(f"{m} earns {d} dollars more than {n}.")
    y = s.step(m, x, "+", d)
    s.say("They put the money together.")
    z = s.step("total", x, "+", y)
    if s.chance(0.5):
        c = s.number(3, 50)
        s.say(f"Then they pay {c} dollars for a game.", f"Then they spend {c} dollars on {s.rng.choice(ITEMS)}.")
        z = s.step("left", z, "-", c)
    if s.chance(0.3) and z % 2 == 0:
        s.say("Each gets half of the rest. How much money does each get?")
        s.step("each", z, "/", 2)
    else:
        s.say("How much money do they have now?", "How much money is left?")


@template(held_out=True)
def books_and_days(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    a, d, b = s.number(4, 25), s.number(2, 12), s.number(2, 8)
    s.say(f"{n} reads {a} pages a day.", f"Every day {n} reads {a} pages.")
    s.say(f"{m} reads {d} more pages a day than {n}.")
    x = s.step(m, a, "+", d)
    s.say(f"They read for {b} days.", f"They do this for {b} days.")
    y = s.step(m, x, "*", b)
    if s.chance(0.5):
        s.say(f"How many pages does {m} read in all?")
    else:
        s.say("How many pages do they read together?")
        s.step("total", s.step(n, a, "*", b), "+", y)


@template(held_out=True)
def market_baskets(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    item = s.rng.choice(ITEMS)
    p, q, c, k = s.number(2, 9), s.number(4, 15), s.number(2, 20), s.number(2, 6)
    s.say(f"{name} brings {p} baskets to the market. There are {q} {item} in each basket.")
    x = s.step("baskets", p, "*", q)
    s.say(f"On Monday {c} {item} are sold.", f"Then {c} {item} are sold.")
    x = s.step("left", x, "-", c)
    if s.chance(0.5):
        s.say(f"{he.capitalize()} also finds {k} {item}.")
        x = s.step(item, x, "+", k)
    if s.chance(0.4):
        share(s, x, item)
    else:
        r = s.number(2, 4)
        s.say(f"The rest is sold for {r} dollars each. How much money does {name} get?")
        s.step("dollars", x, "*", r)
