"""Work, trips, school, farm and games. The frozen test set draws from these: see TESTED in math_problems.py."""

from math_stories import BOXES, ITEMS, Reject, aside, change, events, how_many_now, people, template, times


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
