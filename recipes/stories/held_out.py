"""Stories that training never tells; the frozen test set keeps them for its unseen part."""

from math_stories import BOXES, FAMILY, ITEMS, Reject, people, share, template, times


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
