"""Things people own, buy, save and grow. The frozen test set draws from these: see TESTED in math_problems.py."""

from math_stories import BOXES, FAMILY, ITEMS, Reject, aside, change, events, how_many_now, people, share, template, times


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
