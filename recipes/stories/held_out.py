"""Stories that training never tells. The frozen test set's unseen part draws from those that UNSEEN in math_problems.py
lists; the others are the far set, on which llada-nano-math mostly fails.
"""

from math_stories import BOXES, FAMILY, ITEMS, Reject, divisor, people, share, template, times


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


@template(held_out=True)
def rest_on_sunday(s):
    (n, (he, _, _)), = people(s, 1)
    b, d, h, e = s.number(5, 30), s.number(2, 6), s.number(2, 5), s.number(4, 20)
    s.say(f"A book has {b * d + h * e} pages.", f"{n} gets a book with {b * d + h * e} pages.")
    s.say(f"{n} reads {b} pages a day for {d} days.", f"For {d} days {n} reads {b} pages a day.")
    x = s.step("pages", b, "*", d)
    x = s.step("left", b * d + h * e, "-", x)
    s.say(f"On Sunday {he} reads the rest in {h} hours. How many pages is that each hour?",
          f"The rest takes {h} hours. How many pages does {he} read in an hour?")
    s.step("each", x, "/", h)


@template(held_out=True)
def two_rides(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    a, b, d, c = s.number(2, 15), s.number(2, 15), s.number(2, 9), s.number(2, 30)
    s.say(f"{n} rides {a} miles in the morning and {b} miles in the evening.",
          f"In the morning {n} drives {a} miles, and in the evening {he} drives {b} miles.")
    x = s.step("miles", a, "+", b)
    s.say(f"{he.capitalize()} does this for {d} days.", f"This goes on for {d} days.")
    x = s.step(n, x, "*", d)
    s.say(f"{m} goes {c} miles fewer than {n} in all. How many miles is that?",
          f"In this time {m} goes {c} miles more than {n}. How many miles is that for {m}?")
    s.step(m, x, "-" if "fewer" in s.sentences[-1] else "+", c)


@template(held_out=True)
def half_and_more(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    item = s.rng.choice(ITEMS)
    a, d = 2 * s.number(4, 60), s.number(2, 30)
    s.say(f"{n} has {a} {item}.", f"{n} collects {a} {item}.")
    s.say(f"{m} has half as many {item} as {n}.", f"{m} has half of what {n} has.")
    x = s.step(m, a, "/", 2)
    s.say(f"{k} has {d} more {item} than {m}.")
    y = s.step(k, x, "+", d)
    if s.chance(0.5):
        s.say(f"How many {item} do {n} and {k} have together?")
        s.step("total", a, "+", y)
    else:
        s.say(f"How many {item} do the three of them have in all?")
        s.step("total", s.step("total", a, "+", x), "+", y)


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
def zoo_trip(s):
    k, a, b, p = s.number(2, 6), s.number(4, 20), s.number(2, 6), s.number(2, 5)
    s.say(f"On Monday {k} teams go to the zoo. Each team has {a} children and {b} adults.",
          f"There are {k} teams, and each team has {a} children and {b} adults. They all go to the zoo.")
    x = s.step("each", a, "+", b)
    x = s.step("people", x, "*", k)
    s.say(f"Each ticket costs {p} dollars. How many dollars do all the tickets cost?",
          f"Each of them pays {p} dollars. How much money is that in all?")
    s.step("dollars", x, "*", p)


@template(held_out=True)
def jars_sold(s):
    (n, (he, _, _)), = people(s, 1)
    q, jars, k = s.number(3, 12), s.number(5, 20), s.number(2, 15)
    food = s.rng.choice(("cookies", "muffins", "candies"))
    s.say(f"{n} makes {q * jars} {food} and puts {q} {food} into each jar.",
          f"{n} bakes {q * jars} {food}. {he.capitalize()} puts them into jars with {q} {food} in each jar.")
    x = s.step("jars", q * jars, "/", q)
    s.say(f"Then {he} sells {k} jars.", f"On Monday {he} gives {k} jars to the school.")
    x = s.step("left", x, "-", k)
    s.say(f"How many {food} does {n} have left?", f"How many {food} are left?")
    s.step(food, x, "*", q)


@template(held_out=True)
def tank_days(s):
    (n, _), = people(s, 1)
    a, b, c, d = s.number(100, 300), s.number(2, 15), s.number(2, 15), s.number(2, 8)
    s.say(f"There are {a} liters of water in a tank.", f"The tank in the garden has {a} liters of water.")
    s.say(f"Every day {n} takes {b} liters for the roses and {c} liters for the trees.",
          f"The roses get {b} liters a day, and the trees get {c} liters a day.")
    x = s.step("liters", b, "+", c)
    s.say(f"How many liters are left after {d} days?", f"This goes on for {d} days. How many liters are still in the tank?")
    x = s.step("liters", x, "*", d)
    s.step("left", a, "-", x)


@template(held_out=True)
def friends_pay(s):
    a, b, p = s.number(20, 150), s.number(2, 12), s.number(2, 9)
    s.say(f"Some friends go to a store. They buy a bike for {a} dollars and {b} balls for {p} dollars each.",
          f"A group of friends spends {a} dollars on a boat. They also buy {b} tickets for {p} dollars each.")
    x = s.step("dollars", b, "*", p)
    x = s.step("total", x, "+", a)
    k = divisor(s, x, 2, 9)
    s.say(f"The {k} friends share the cost equally. How many dollars does each friend pay?",
          f"There are {k} friends, and each of them pays equally much. What does each of them pay?")
    s.step("each", x, "/", k)


@template(held_out=True)
def shelves_and_boxes(s):
    a, b, c, d, e, f = (s.number(2, 9), s.number(4, 15), s.number(2, 6), s.number(4, 15), s.number(3, 15), s.number(2, 4))
    s.say(f"A school has {a} shelves with {b} books on each shelf and {c} boxes with {d} books in each box.",
          f"In a house there are {a} shelves with {b} books each. There are also {c} boxes with {d} books each.")
    x = s.step("shelves", a, "*", b)
    y = s.step("boxes", c, "*", d)
    x = s.step("books", x, "+", y)
    s.say(f"Then {e} children come, and each child takes {f} books.", f"Each of {e} children takes {f} books home.")
    y = s.step("taken", e, "*", f)
    s.say("How many books are left?", "How many books are still there?")
    s.step("left", x, "-", y)
