"""Stories put together freely: any opening, any events in any order, any question.

The other files tell whole stories, and a small network learns those by heart: it knows what to do with a train because it
knows the story of the bus. Here every sentence means what it says wherever it stands, so the only way to be right is to
read. A clause is a function that says a sentence or two, records the steps, and returns how many there are now.
"""

from math_stories import BOXES, FAMILY, ITEMS, Story, divisor, people, template, times

DAYS = ("Monday", "Tuesday", "Friday", "Sunday")
COLORS = ("red", "blue", "green", "new", "old")
GETS = ("buys", "finds", "makes", "bakes", "brings", "collects", "gets", "takes", "opens", "earns")
PARTS = ("sells", "loses", "eats", "gives away", "breaks", "needs", "puts away")
GONE = ("sold", "eaten", "given away", "taken", "lost", "put away", "given to a friend")
THEN = ("Then", "Later", "After that", "After lunch", "In the evening", "The next day", "On Monday", "On Friday")


def begin(s: Story) -> str:
    """The head of a sentence that tells what happens next; it ends with a blank or is nothing."""
    return f"{s.rng.choice(THEN)} " if s.chance(0.6) else ""


def sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def tell(s: Story, *phrasings: str) -> None:
    s.sentences.append(sentence(begin(s) + s.rng.choice(phrasings)))


# ---- openings: a person and how many things there are ---------------------------------------------------------------

def has(s, who, item):
    a = s.number(5, 90)
    s.say(f"{who[0]} has {a} {item}.", f"In the morning {who[0]} has {a} {item}.", f"There are {a} {item} on the table of {who[0]}.",
          f"{who[0]} brings {a} {item} to school.", f"At home {who[0]} finds {a} {item}.")
    return a


def in_boxes(s, who, item):
    (box, boxes), p, q = s.rng.choice(BOXES), s.number(2, 12), s.number(2, 20)
    s.say(f"{who[0]} has {p} {boxes}, and in each {box} are {q} {item}.", f"{who[0]} opens {p} {boxes} of {q} {item} each.",
          f"{who[0]} takes {p} {boxes}. All of them have {q} {item} in them.", f"{who[0]} {s.rng.choice(GETS)} {p} {boxes} of {item} with {q} in each.", f"There are {q} {item} in a {box}, and {who[0]} has {p} {boxes}.")
    return s.step(item, p, "*", q)


def of_kinds(s, who, item):
    kinds = s.rng.sample(COLORS, s.number(2, 3))
    counts = [s.number(3, 40) for _ in kinds]
    listed = [f"{n} {kind}" for n, kind in zip(counts, kinds)]
    if s.chance(0.5):
        full = [f"{part} {item}" for part in listed]
        s.say(f"{who[0]} has {', '.join(listed[:-1])} and {listed[-1]} {item}.",
              f"{who[0]} collects {', '.join(listed[:-1])} and {listed[-1]} {item}.",
              f"{who[0]} {s.rng.choice(GETS)} {', '.join(full[:-1])} and {full[-1]}.",
              f"On the table of {who[0]} are {', '.join(full[:-1])} and {full[-1]}.")
    else:
        s.say_shuffled(*(f"There are {part} {item} in the room of {who[0]}." for part in listed))
        counts = [int(text.split()[2]) for text in s.sentences[-len(kinds):]]
    return add_up(s, item, counts)


def on_days(s, who, item):
    days = s.rng.sample(DAYS, s.number(2, 3))
    counts = [s.number(3, 40) for _ in days]
    for i, (day, n) in enumerate(zip(days, counts)):
        name = who[0] if i == 0 else who[1][0]
        s.say(f"On {day} {name} finds {n} {item}.", f"{sentence(name)} collects {n} {item} on {day}.", f"{sentence(name)} buys {n} {item} on {day}.")
    return add_up(s, item, counts)


def each_day(s, who, item):
    unit = s.rng.choice(("day", "week", "month", "hour"))
    a, d = s.number(2, 20), s.number(2, 9)
    s.say(f"{who[0]} gets {a} {item} every {unit} for {d} {unit}s.", f"For {d} {unit}s {who[0]} collects {a} {item} each {unit}.",
          f"{who[0]} makes {a} {item} in one {unit} and works for {d} {unit}s.")
    return s.step(item, a, "*", d)


def like_another(s, who, item):
    (m, _), = [p for p in people(s, 2) if p[0] != who[0]][:1]
    a = s.number(4, 60)
    s.say(f"{m} has {a} {item}.", f"There are {a} {item} in the house of {m}.")
    return compare(s, who[0], m, a, item)


def add_up(s, label, counts):
    total = counts[0]
    for n in counts[1:]:
        total = s.step(label, total, "+", n)
    return total


def compare(s, name, other, a, item, label=None):
    """What `name` has, told by what `other` has."""
    kind, label = s.rng.choice(("more", "fewer", "times", "half")), label or name
    if kind == "more":
        d = s.number(2, 40)
        s.say(f"{name} has {d} more {item} than {other}.", f"{name} has {d} more than {other}.", f"{name} has as many {item} as {other} and {d} more.")
        return s.step(label, a, "+", d)
    if kind == "fewer":
        d = s.number(2, 40)
        s.say(f"{name} has {d} fewer {item} than {other}.", f"{name} has {d} fewer than {other}.")
        return s.step(label, a, "-", d)
    if kind == "times":
        f = s.number(2, 5)
        s.say(f"{name} has {times(s, f)} as many {item} as {other}.", f"{name} has {times(s, f)} as many as {other}.")
        return s.step(label, a, "*", f)
    s.say(f"{name} has half as many {item} as {other}.", f"{name} has half of what {other} has.")
    return s.step(label, a, "/", 2)


# ---- events: fewer or more of them -----------------------------------------------------------------------------------

def more(s, who, x, item):
    (he, his, him), b = who[1], s.number(2, 60)
    tell(s, f"{he} gets {b} more {item}.", f"{his} {s.rng.choice(FAMILY)} brings {b} {item}.", f"{b} new {item} come from the store.",
         f"{he} puts {b} more {item} with the others.", f"{he} adds {b} {item}.", f"{his} {s.rng.choice(FAMILY)} has {b} {item} for {him}.",
         f"{he} {s.rng.choice(GETS)} {b} {item}.", f"{he} also {s.rng.choice(GETS)} {b} {item}.", f"{he} {s.rng.choice(GETS)} {b} more {item}.",
         f"{b} {item} are added.", f"there are {b} more {item} in a bag.", f"{b} {item} are put on the table.")
    return s.step(item, x, "+", b)


def more_twice(s, who, x, item):
    (he, his, him), b, c = who[1], s.number(2, 30), s.number(2, 30)
    one, two = s.rng.sample(FAMILY, 2)
    tell(s, f"{his} {one} gives {him} {b} {item} and {his} {two} gives {him} {c}.", f"{he} finds {b} {item} in the garden and {c} in the house.",
         f"{he} buys {b} {item}, and {c} more come from a friend.")
    return s.step(item, s.step(item, x, "+", b), "+", c)


def fewer(s, who, x, item):
    (he, his, him), b = who[1], s.number(2, min(60, max(2, x - 1)))
    tell(s, f"{he} gives {b} {item} away.", f"{b} {item} are taken by {his} {s.rng.choice(FAMILY)}.", f"{b} of them break.", f"{he} loses {b} of them.",
         f"{his} {s.rng.choice(FAMILY)} wants {b} {item} and gets them.", f"{b} of the {item} are sold.", f"{he} puts {b} {item} back.",
         f"{he} {s.rng.choice(PARTS)} {b} {item}.", f"{he} {s.rng.choice(PARTS)} {b} of the {item}.", f"{b} {item} are {s.rng.choice(GONE)}.",
         f"{b} of them are {s.rng.choice(GONE)}.", f"a friend takes {b} {item} home.", f"the children take {b} {item}.")
    return s.step("left", x, "-", b)


def more_groups(s, who, x, item):
    (he, his, him), (box, boxes), p, q = who[1], s.rng.choice(BOXES), s.number(2, 9), s.number(2, 15)
    tell(s, f"{he} buys {p} {boxes} of {q} {item} each.", f"{his} {s.rng.choice(FAMILY)} gives {him} {p} {boxes}, each with {q} {item}.",
         f"{p} friends come, and each of them brings {q} {item}.", f"{he} finds {q} {item} on each of {p} days.")
    return s.step(item, x, "+", s.step("more", p, "*", q))


def fewer_groups(s, who, x, item):
    (he, his, him), (box, boxes), p, q = who[1], s.rng.choice(BOXES), s.number(2, 9), s.number(2, 9)
    tell(s, f"{p} children take {q} {item} each.", f"{he} puts {q} {item} into each of {p} {boxes} and gives the {boxes} away.",
         f"{p} friends get {q} of the {item} each.", f"{he} sells {q} {item} on each of {p} days.", f"{q} {item} go to each of {p} teams.",
         f"{p} people {s.rng.choice(('eat', 'take', 'get', 'buy'))} {q} {item} each.", f"each of {p} friends {s.rng.choice(('takes', 'wants', 'buys'))} {q} {item}.",
         f"there are {p} children and each of them {s.rng.choice(('eats', 'takes', 'gets'))} {q} {item}.", f"every one of {p} friends gets {q} {item}.")
    return s.step("left", x, "-", s.step("given", p, "*", q))


def half(s, who, x, item):
    (he, his, him) = who[1]
    tell(s, f"half of them are sold.", f"{he} gives half of the {item} away.", f"half of the {item} go to {his} {s.rng.choice(FAMILY)}.", f"{he} loses half of them.")
    return s.step("left", x, "/", 2)


def multiply(s, who, x, item):
    he, f = who[1][0], s.number(2, 4)
    tell(s, f"{he} has {times(s, f)} as many {item} as before.", f"there are {times(s, f)} as many {item}.")
    return s.step(item, x, "*", f)


HAPPENINGS = (more, more, fewer, fewer, more_twice, more_groups, fewer_groups, half, multiply)


# ---- endings: a question, and what it still takes to answer it --------------------------------------------------------

def how_many(s, who, x, item):
    name, (he, _, _) = who
    s.say(f"How many {item} does {name} have then?", f"How many {item} are there in the end?", f"How many {item} does {he} have at the end of the day?",
          f"How many {item} is that?", f"How many {item} are left?", f"How many {item} does {name} have now?")


def to_each(s, who, x, item):
    (he, _, _), k = who[1], divisor(s, x, 2, 9)
    s.say(f"{sentence(he)} puts them into {k} equal groups. How many {item} are in each group?", f"{k} children share them equally. What does each of them get?",
          f"The {item} go into {k} boxes, equally many into each. How many {item} are in a box?")
    s.step("each", x, "/", k)


def in_groups(s, who, x, item):
    (he, _, _), k = who[1], divisor(s, x, 2, 9)
    box, boxes = s.rng.choice(BOXES)
    groups = s.rng.choice((boxes, "groups", "rows"))
    opening = s.rng.choice((f"{sentence(he)} makes {groups} of {k} {item} each.", f"{sentence(he)} puts all {item} into {groups} of {k}."))
    y = s.step("groups" if groups == "rows" else groups, x, "/", k)
    if s.chance(0.5):
        s.say(f"{opening} How many {groups} does {he} need?", f"{opening} How many {groups} is that?")
        return
    p = s.number(2, 12)
    s.say(f"{opening} Each of these {groups} costs {p} dollars. How much money is that?", f"{opening} Then {he} sells the {groups} for {p} dollars each. How many dollars does {he} get?")
    s.step("dollars", y, "*", p)


def for_money(s, who, x, item):
    name, (he, _, _) = who
    p = s.number(2, 9)
    s.say(f"{sentence(he)} sells all of them at {p} dollars each. How many dollars is that?", f"Each of them costs {p} dollars. How much money does {name} get for all of them?")
    y = s.step("dollars", x, "*", p)
    if s.chance(0.3):
        c = s.number(3, 60)
        s.sentences[-1] = f"{sentence(he)} sells all of them at {p} dollars each and pays {c} dollars for lunch. How many dollars does {name} keep?"
        s.step("left", y, "-", c)


def short_of(s, who, x, item):
    name, (he, _, _) = who
    target = x + s.number(2, 60)
    s.say(f"{sentence(he)} wants {target} {item}. How many more {item} does {he} need?", f"How many {item} are needed until {name} has {target} of them?",
          f"There is room for {target} {item}. How many more can {he} take?")
    s.step("more", target, "-", x)


def with_another(s, who, x, item):
    name = who[0]
    m = s.rng.choice([p[0] for p in people(s, 3) if p[0] != name])
    if s.chance(0.4):
        y = s.number(3, 60)
        s.say(f"{m} has {y} {item}.", f"There are {y} {item} in the house of {m}.")
    else:
        y = compare(s, m, name, x, item)
    if s.chance(0.7):
        s.say(f"How many {item} do {name} and {m} have together?", f"How many {item} is that for both of them together?", f"They put all {item} together. How many {item} are there?")
        z = s.step("total", x, "+", y)
        if s.chance(0.2):
            s.sentences[-1] = "They put everything together and share it equally. What does each of them get?"
            s.step("each", z, "/", 2)
    else:
        low, high = min(x, y), max(x, y)
        s.say(f"How many more {item} has one of them than the other?")
        s.step("more", high, "-", low)


ENDINGS = (how_many, how_many, to_each, in_groups, in_groups, for_money, short_of, with_another)


@template(weight=16)
def things(s):
    """Somebody has things; this and that happens to them."""
    [who], item = people(s, 1), s.rng.choice(ITEMS)
    x = s.rng.choice((has, has, in_boxes, of_kinds, on_days, each_day, like_another))(s, who, item)
    for _ in range(s.number(0, 3)):
        x = s.rng.choice(HAPPENINGS)(s, who, x, item)
    s.rng.choice(ENDINGS)(s, who, x, item)


# ---- money --------------------------------------------------------------------------------------------------------------

def earns(s, who):
    r, h = s.number(2, 15), s.number(2, 9)
    s.say(f"{who[0]} works {h} hours for {r} dollars an hour.", f"For each hour of work {who[0]} gets {r} dollars. Today {who[1][0]} works {h} hours.",
          f"{who[0]} gets {r} dollars an hour and works for {h} hours.")
    return s.step("dollars", h, "*", r)


def sells(s, who):
    a, p, item = s.number(2, 20), s.number(2, 9), s.rng.choice(ITEMS)
    s.say(f"{who[0]} sells {a} {item} at {p} dollars each.", f"Each day {who[0]} sells {a} {item} and gets {p} dollars for each.", f"{who[0]} has {a} {item} and sells all of them for {p} dollars each.",
          f"At the market {who[0]} gets {p} dollars for each of {a} {item}.")
    return s.step("dollars", a, "*", p)


def saves(s, who):
    unit = s.rng.choice(("week", "month", "day"))
    a, d = s.number(3, 20), s.number(2, 9)
    s.say(f"{who[0]} saves {a} dollars a {unit} for {d} {unit}s.", f"For {d} {unit}s {who[0]} puts {a} dollars into a box every {unit}.")
    return s.step("dollars", a, "*", d)


def owns(s, who):
    a = s.number(10, 150)
    s.say(f"{who[0]} has {a} dollars.", f"There are {a} dollars in the bag of {who[0]}.", f"{who[0]} starts with {a} dollars.")
    return a


def goes_on(s, who, x):
    unit, d = s.rng.choice(("day", "week")), s.number(2, 7)
    s.say(f"It is the same on each of {d} {unit}s.", f"{sentence(who[1][0])} works like this for {d} {unit}s.", f"This is done every {unit} for {d} {unit}s.")
    return s.step("dollars", x, "*", d)


def paid(s, who, x):
    (he, his, him), b = who[1], s.number(3, 60)
    tell(s, f"{his} {s.rng.choice(FAMILY)} gives {him} {b} dollars.", f"{he} gets {b} dollars for an old bike.", f"{he} finds {b} dollars.", f"{he} earns {b} more dollars.")
    return s.step("dollars", x, "+", b)


def pays(s, who, x):
    (he, his, him), b, item = who[1], s.number(3, 60), s.rng.choice(ITEMS)
    tell(s, f"{he} pays {b} dollars for {item}.", f"{he} gives {b} dollars to {his} {s.rng.choice(FAMILY)}.", f"{he} needs {b} dollars for a ticket.", f"{he} spends {b} dollars.")
    return s.step("left", x, "-", b)


def pays_each(s, who, x):
    he, item, k, p = who[1][0], s.rng.choice(ITEMS), s.number(2, 9), s.number(2, 9)
    tell(s, f"{he} buys {k} {item} that cost {p} dollars each.", f"{he} pays {p} dollars each for {k} tickets.", f"{he} gives {p} dollars to each of {k} children.")
    return s.step("left", x, "-", s.step("dollars", k, "*", p))


def pays_half(s, who, x):
    he, his = who[1][:2]
    tell(s, f"{he} spends half of the money.", f"half of it goes to {his} {s.rng.choice(FAMILY)}.")
    return s.step("left", x, "/", 2)


def both_earn(s, who, x):
    """Another one with money of his own, and all of it together."""
    m = s.rng.choice([p[0] for p in people(s, 3) if p[0] != who[0]])
    d = s.number(2, 40)
    if s.chance(0.5):
        s.say(f"{m} has {d} dollars more than {who[0]}.", f"{m} gets {d} dollars more.", f"{m} {s.rng.choice(('earns', 'gets', 'saves'))} {d} more dollars than {who[0]}.")
        y = s.step(m, x, "+", d)
    else:
        f = s.number(2, 4)
        s.say(f"{m} has {times(s, f)} as many dollars as {who[0]}.")
        y = s.step(m, x, "*", f)
    s.say("They put all of it into one box.", f"{who[0]} and {m} share what they have.", "They put together what they have.")
    return s.step("total", x, "+", y)


def money_question(s, who, x):
    name, (he, _, _) = who
    kind = s.number(0, 3)
    if kind == 0:
        price = x + s.number(2, 60)
        s.say(f"A game costs {price} dollars. How many dollars does {name} still need?", f"{sentence(he)} wants {price} dollars in all. How many more dollars does {he} need?")
        s.step("more", price, "-", x)
    elif kind == 1:
        k = divisor(s, x, 2, 6)
        s.say(f"The money is shared equally among {k} people. How many dollars does each of them get?")
        s.step("each", x, "/", k)
    elif kind == 2:
        k = divisor(s, x, 2, 9)
        s.say(f"How many tickets can {he} buy if each costs {k} dollars?", f"Books are {k} dollars each. How many of them can {name} buy?")
        s.step("pieces", x, "/", k)
    else:
        s.say(f"How many dollars does {name} have then?", "How many dollars is that in all?", "How much money is there in the end?", "How much money is left?")


@template(weight=12)
def purse(s):
    """Money comes and goes."""
    [who] = people(s, 1)
    x = s.rng.choice((earns, sells, saves, owns))(s, who)
    for clause in s.rng.choices((goes_on, paid, pays, pays, pays_each, pays_half, both_earn), k=s.number(0, 3)):
        x = clause(s, who, x)
    money_question(s, who, x)


# ---- several people -----------------------------------------------------------------------------------------------------

def amount(s, name, other, a, unit):
    """What `name` does a day or has, compared with what `other` does or has."""
    kind = s.number(0, 2)
    verb = {"pages": "reads", "miles": "runs", "pictures": "makes", "points": "gets", "dollars": "saves"}[unit]
    if kind == 0:
        d = s.number(2, 30)
        s.say(f"{name} {verb} {d} {unit} more than {other}.", f"{name} {verb} {d} more {unit} than {other}.")
        return s.step(name, a, "+", d)
    if kind == 1:
        d = s.number(2, 30)
        s.say(f"{name} {verb} {d} {unit} fewer than {other}.", f"{name} {verb} {d} fewer {unit} than {other}.")
        return s.step(name, a, "-", d)
    f = s.number(2, 4)
    s.say(f"{name} {verb} {times(s, f)} as many {unit} as {other}.")
    return s.step(name, a, "*", f)


@template(weight=16)
def company(s):
    """Two to four people, each compared with one who was named before; asked is one of them, two or all."""
    group = [name for name, _ in people(s, s.number(2, 4))]
    unit = s.rng.choice(("pages", "miles", "pictures", "points", "dollars", "", ""))
    item = unit or s.rng.choice(ITEMS)
    a = s.number(3, 50)
    verb = {"pages": "reads", "miles": "runs", "pictures": "makes", "points": "gets", "dollars": "saves"}.get(unit, "has")
    s.say(f"{group[0]} {verb} {a} {item}.")
    has_now, steps_of = {group[0]: a}, {group[0]: []}
    for i, name in enumerate(group[1:], 1):
        other, before = s.rng.choice(group[:i]), len(s.steps)
        has_now[name] = amount(s, name, other, has_now[other], unit) if unit else compare(s, name, other, has_now[other], item)
        steps_of[name] = steps_of[other] + s.steps[before:]
    days = 0
    if unit and s.chance(0.5):
        days = s.number(2, 8)
        s.say(f"They do this for {days} days.", f"It goes on for {days} days.")
    ask(s, group, item, has_now, steps_of, days, verb)


def ask(s, group, item, has_now, steps_of, days, verb):
    """Keep only the steps that the question needs."""
    asked = s.rng.sample(group[1:], 1) if s.chance(0.3) else s.rng.sample(group, s.number(2, len(group)))
    asked.sort(key=group.index)
    s.steps = []
    for name in asked:
        s.steps += [line for line in steps_of[name] if line not in s.steps]
    values = [has_now[name] for name in asked]
    s.last = values[-1]
    if days:
        values = [s.step(name, v, "*", days) for name, v in zip(asked, values)]
    do = {"reads": "read", "runs": "run", "makes": "make", "gets": "get", "saves": "save"}.get(verb, "have")
    if len(asked) == 1:
        s.say(f"How many {item} does {asked[0]} {do}?", f"How many {item} is that for {asked[0]}?")
        return
    if len(asked) == 2 and s.chance(0.3) and values[0] != values[1]:
        s.say(f"How many more {item} has one of {asked[0]} and {asked[1]} than the other?")
        s.step("more", max(values), "-", min(values))
        return
    names = ", ".join(asked[:-1]) + f" and {asked[-1]}"
    s.say(f"How many {item} do {names} {do} together?", f"How many {item} do {names} {do} in all?")
    total = add_up(s, "total", values)
    if asked == group:
        tail(s, total, item)


def tail(s, total, item):
    if not s.chance(0.25):
        return
    b = s.number(2, 40)
    s.sentences.pop()
    s.say(f"They put everything together and give {b} of it away. How many {item} are left?", f"Of what they have together {b} are lost. How many {item} are left?")
    s.step("left", total, "-", b)


# ---- room for so many ---------------------------------------------------------------------------------------------------

@template(weight=6)
def places(s):
    """So many places, and people or things that take them."""
    place, rows, where = s.rng.choice((("chairs", "rows", "in a room"), ("chairs", "tables", "in a library"), ("books", "shelves", "in a school"), ("pictures", "pages", "in a book")))
    a, b = s.number(3, 15), s.number(3, 18)
    s.say(f"There are {a} {rows} {where}, with room for {b} {place} each.", f"There is room for {b} {place} on each of {a} {rows} {where}.") if place in ("books", "pictures") else s.say(
        f"There are {a} {rows} {where} and {b} {place} for each of them.", f"{where.capitalize()} are {a} {rows}. Each of them has {b} {place}.")
    x = s.step(place, a, "*", b)
    taken = s.number(3, 40)
    s.say(f"Of the {place}, {taken} are taken.", f"{taken} {place} are taken in the morning.")
    for _ in range(s.number(0, 2)):
        n = s.number(2, 25)
        if s.chance(0.6):
            tell(s, f"{n} more are taken.", f"{n} other {place} are taken.")
            taken = s.step("taken", taken, "+", n)
        else:
            tell(s, f"{n} of them are not taken any more.", f"people leave {n} of them.")
            taken = s.step("taken", taken, "-", n)
    s.say(f"How many {place} are not taken?", f"How many {place} are there for others?", f"How many {place} are left?")
    s.step("left", x, "-", taken)


@template(weight=6)
def seats(s):
    """Chairs in rows or at tables, and people who come and go."""
    rows, where, who = s.rng.choice((("rows", "in a room", "people"), ("tables", "in a school", "children"), ("tables", "at a party", "friends"), ("rows", "on a boat", "people"),
                                     ("rows", "in a bus", "children")))
    a, b, here = s.number(3, 15), s.number(3, 18), s.number(3, 40)
    s.say(f"There are {a} {rows} {where} and {b} chairs for each of them.", f"{where.capitalize()} are {a} {rows} of {b} chairs.", f"{where.capitalize()} there are {b} chairs in each of {a} {rows}." if rows == "rows" else f"{where.capitalize()} there are {b} chairs at each of {a} {rows}.")
    x = s.step("chairs", a, "*", b)
    s.say(f"{here} {who} sit there.", f"At first {here} {who} come.", f"There are {here} {who} who sit.")
    for _ in range(s.number(0, 3)):
        n = s.number(2, 25)
        if s.chance(0.55):
            tell(s, f"{n} more {who} come.", f"{n} {who} come in.", f"{n} {who} sit with them.", f"{n} other {who} take a chair.")
            here = s.step("people" if who == "people" else "children", here, "+", n)
        else:
            tell(s, f"{n} {who} go home.", f"{n} {who} leave.", f"{n} of them go out.", f"{n} of the {who} go away.")
            here = s.step("people" if who == "people" else "children", here, "-", n)
    if s.chance(0.75):
        s.say("How many chairs are left?", f"How many more {who} can sit?", "How many chairs does nobody take?" if s.chance(0.2) else "How many chairs are there for others?")
        s.step("left", x, "-", here)
    else:
        s.say(f"How many {who} are there in the end?")
        s.steps = [line for line in s.steps if not line.startswith("chairs")]
        s.last = here
