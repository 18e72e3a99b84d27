"""More is told than the question needs: the reader must pick who, what, which price or which day it asks about."""

from math_stories import BOXES, FAMILY, ITEMS, change, divisor, people, template, times

DAYS = ("Monday", "Tuesday", "Friday", "Sunday")


def happens(s, name, item):
    """Something that happens to one person's things: (sentence, operation, operand)."""
    b = s.number(2, 30)
    kind = s.rng.choice("++--*/")
    if kind == "+":
        return s.rng.choice((f"{name} buys {b} more {item}.", f"Then {name} finds {b} {item}.", f"{name} gets {b} {item} from a friend.",
                             f"A neighbor gives {name} {b} {item}.")), "+", b
    if kind == "-":
        return s.rng.choice((f"{name} loses {b} {item}.", f"Then {name} gives away {b} {item}.", f"{name} sells {b} {item}.",
                             f"A child takes {b} {item} from {name}.")), "-", b
    if kind == "*":
        b = s.number(2, 3)
        return f"Later {name} has {times(s, b)} as many {item} as before.", "*", b
    return s.rng.choice((f"{name} gives half of the {item} to a friend.", f"{name} sells half of the {item}.")), "/", 2


def interleaved(s, owners, rounds):
    """Things happen to several owners, (name, item, number) each, in any order. The steps of each owner, not yet written."""
    pending = [i for i in range(len(owners)) for _ in range(rounds[i])]
    s.rng.shuffle(pending)
    changes = [[] for _ in owners]
    for i in pending:
        sentence, op, b = happens(s, owners[i][0], owners[i][1])
        s.sentences.append(sentence)
        changes[i].append((op, b))
    return changes


def follow(s, label, x, changes):
    for op, b in changes:
        x = s.step(label, x, op, b)
    return x


@template
def events_of_two(s):
    (n, _), (m, _) = people(s, 2)
    item = s.rng.choice(ITEMS)
    a, b = s.number(5, 80), s.number(5, 80)
    s.say(f"{n} has {a} {item} and {m} has {b} {item}.", f"{n} has {a} {item}. {m} starts with {b} {item}.", f"There are {a} {item} in the bag of {n} and {b} in the bag of {m}.")
    rounds = (s.number(1, 3), s.number(1, 3))
    mine, other = interleaved(s, ((n, item), (m, item)), rounds)
    how = s.number(1, 4)
    if how == 1:
        s.say(f"How many {item} does {n} have now?", f"How many {item} does {n} have in the end?")
        follow(s, n, a, mine)
    elif how == 2:
        s.say(f"How many {item} does {m} have now?", f"How many {item} does {m} have in the end?")
        follow(s, m, b, other)
    else:
        x, y = follow(s, n, a, mine), follow(s, m, b, other)
        if how == 3:
            s.say("How many do they have together now?", f"How many {item} do {n} and {m} have in all?")
            s.step("total", x, "+", y)
        else:
            n, m, x, y = (n, m, x, y) if x > y else (m, n, y, x)
            s.say(f"How many more {item} does {n} have now than {m}?", f"How many fewer {item} does {m} have than {n} in the end?")
            s.step("more", x, "-", y)


@template
def events_of_two_kinds(s):
    (n, _), = people(s, 1)
    one, two = s.rng.sample(ITEMS, 2)
    a, b = s.number(5, 80), s.number(5, 80)
    s.say(f"{n} has {a} {one} and {b} {two}.", f"There are {a} {one} and {b} {two} in the room of {n}.", f"{n} starts with {a} {one}. There are also {b} {two}.")
    first, second = interleaved(s, ((n, one), (n, two)), (s.number(1, 3), s.number(1, 3)))
    how = s.number(1, 4)
    if how <= 2:
        item, x, changes = ((one, a, first), (two, b, second))[how - 1]
        x = follow(s, item, x, changes)
        if s.chance(0.3):
            k = divisor(s, x, 2, 9)
            s.say(f"The {item} are shared equally among {k} children. How many {item} does each child get?", f"{n} puts the {item} into {k} equal groups. How many {item} are in each group?")
            s.step("each", x, "/", k)
        else:
            s.say(f"How many {item} does {n} have now?", f"How many {item} are there in the end?")
    else:
        x, y = follow(s, one, a, first), follow(s, two, b, second)
        if how == 3:
            s.say(f"How many {one} and {two} are there in all?", f"How many {one} and {two} does {n} have together?")
            s.step("total", x, "+", y)
        else:
            one, two, x, y = (one, two, x, y) if x > y else (two, one, y, x)
            s.say(f"How many more {one} than {two} does {n} have?", f"How many fewer {two} than {one} are there in the end?")
            s.step("more", x, "-", y)


@template
def price_list(s):
    [who] = people(s, 1)
    n, (he, _, _) = who
    names = s.rng.sample(("bike", "game", "book", "ticket", "ball", "table", "boat", "box", "basket"), 3)
    prices = s.rng.sample(range(2, 40), 3)
    s.say_shuffled(*(s.rng.choice((f"A {name} costs {p} dollars.", f"They sell each {name} for {p} dollars.")) for name, p in zip(names, prices)))
    i, j = s.rng.sample(range(3), 2)
    k = s.number(2, 6)
    if s.chance(0.5):
        s.say(f"{n} buys a {names[i]} and a {names[j]}.", f"{n} takes one {names[i]} and one {names[j]}.")
        x = s.step("total", prices[i], "+", prices[j])
    else:
        s.say(f"{n} pays for a {names[i]} for each of {k} children and for one {names[j]}.", f"Each of {k} children gets a {names[i]}, and {n} also takes one {names[j]}.")
        x = s.step("total", s.step("dollars", k, "*", prices[i]), "+", prices[j])
    change(s, who, x)


@template
def list_of_days(s):
    (n, (he, _, _)), = people(s, 1)
    verb, plain, what = s.rng.choice((("sells", "sell", "tickets"), ("runs", "run", "laps"), ("reads", "read", "letters"), ("makes", "make", "toys"), ("eats", "eat", "candies"),
                                      ("gets", "get", "points")))
    counts = dict(zip(DAYS, (s.number(3, 70) for _ in DAYS)))
    if s.chance(0.5):
        s.say_shuffled(*(f"On {day} {n} {verb} {c} {what}." for day, c in counts.items()))
    else:
        monday, tuesday, friday, sunday = counts.values()
        s.say(f"{n} {verb} {monday} {what} on Monday, {tuesday} on Tuesday, {friday} on Friday and {sunday} on Sunday.")
    x, y, z = s.rng.sample(DAYS, 3)
    a, b, c = counts[x], counts[y], counts[z]
    how = s.number(1, 3)
    total = s.step("total", a, "+", b)
    if how == 1 and total > c:
        s.say(f"How many more {what} does {n} {plain} on {x} and {y} together than on {z}?", f"On {x} and {y} together it is more than on {z}. How many {what} more?")
        s.step("more", total, "-", c)
    elif how == 2:
        s.say(f"How many {what} does {n} {plain} on {x}, {y} and {z} in all?", f"How many {what} is that on {x}, {y} and {z} together?")
        s.step("total", total, "+", c)
    else:
        f = s.number(2, 3)
        s.say(f"The next week {n} {verb} {times(s, f)} as many {what} as on {x} and {y} together. How many {what} is that?")
        s.step("total" if what == "tickets" else what, total, "*", f)


@template
def moved_between(s):
    item = s.rng.choice(ITEMS)
    box, many = s.rng.choice(BOXES)
    values = {color: s.number(8, 80) for color in ("red", "blue", "green")}
    s.say_shuffled(*(s.rng.choice((f"There are {v} {item} in the {color} {box}.", f"The {color} {box} has {v} {item}.")) for color, v in values.items()))
    steps = {color: [] for color in values}
    for _ in range(s.number(1, 3)):
        a, b = s.rng.sample(list(values), 2)
        c = s.number(2, 20)
        s.say(f"A child puts {c} {item} from the {a} {box} into the {b} {box}.", f"Then {c} {item} go from the {a} {box} into the {b} {box}.",
              f"The teacher takes {c} {item} out of the {a} {box} and puts them into the {b} one.")
        steps[a].append(("-", c))
        steps[b].append(("+", c))
    asked = [color for color in values if steps[color]]
    x, y = s.rng.sample(asked, 2)
    p = follow(s, x, values[x], steps[x])
    if len(s.steps) > 1 and s.chance(0.4):
        s.say(f"How many {item} are in the {x} {box} now?", f"How many {item} does the {x} {box} have in the end?")
    else:
        q = follow(s, y, values[y], steps[y])
        if p > q and s.chance(0.5):
            s.say(f"How many more {item} are in the {x} {box} than in the {y} {box} now?")
            s.step("more", p, "-", q)
        else:
            s.say(f"How many {item} are in the {x} {box} and the {y} {box} together?", f"How many {item} do the {x} {box} and the {y} {box} have in all?")
            s.step("total", p, "+", q)


@template
def one_of_two_prices(s):
    (n, (he, his, _)), = people(s, 1)
    a, b, p, q, c = s.number(5, 40), s.number(5, 40), s.number(2, 9), s.number(2, 9), s.number(2, 20)
    one, two = s.rng.sample(ITEMS, 2)
    s.say(f"{n} has {a} {one} and {b} {two} for the market.", f"{n} brings {a} {one} and {b} {two} to the market.")
    s.say_shuffled(f"The {one} cost {p} dollars each.", f"The {two} cost {q} dollars each.")
    item, x, price = s.rng.choice(((one, a, p), (two, b, q)))
    if s.chance(0.5):
        s.say(f"Then {c} {item} break.", f"{he.capitalize()} eats {c} {item}." if item in ("apples", "cookies", "candies", "peaches", "eggs", "oranges") else f"{he.capitalize()} gives {c} {item} to a friend.")
        x = s.step("left", x, "-", c)
        s.say(f"{he.capitalize()} sells all the other {item}. How much money does {he} get for them?", f"How many dollars does {n} get for the rest of the {item}?")
    else:
        s.say(f"A friend brings {c} more {item}.", f"Then {he} gets {c} more {item}.")
        x = s.step(item, x, "+", c)
        s.say(f"How much do all the {item} cost?", f"How many dollars does {n} get if {he} sells all the {item}?")
    x = s.step("dollars", x, "*", price)
    if s.chance(0.4):
        d = s.number(2, 40)
        told, _, _ = s.sentences.pop().rpartition(". ")
        if told:
            s.sentences.append(told + ".")
        else:
            s.sentences.append(f"{he.capitalize()} sells all the {item}.")
        s.say(f"With that money {he} buys a game for {d} dollars. How many dollars are left?", f"{he.capitalize()} pays {d} dollars of this to {his} {s.rng.choice(FAMILY)}. How much money is left?")
        s.step("left", x, "-", d)
