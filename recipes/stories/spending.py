"""Money: prices, change, saving up, sharing a bill, selling with a gain."""

from math_stories import BOXES, FAMILY, ITEMS, change, divisor, people, template, times


@template
def unit_price(s):
    [who] = people(s, 1)
    name, (he, _, _) = who
    item = s.rng.choice(ITEMS)
    k, p, m = s.number(2, 9), s.number(2, 12), s.number(2, 12)
    s.say(f"In a store {k} {item} cost {k * p} dollars.", f"{name} pays {k * p} dollars for {k} {item}.", f"A pack of {k} {item} costs {k * p} dollars.")
    x = s.step("each", k * p, "/", k)
    s.say(f"How much do {m} {item} cost?", f"How many dollars are {m} of the {item}?", f"How much does {name} pay for {m} {item}?")
    x = s.step("dollars", x, "*", m)
    if s.chance(0.5):
        s.sentences.pop()
        s.say(f"{name} buys {m} {item}.", f"Then {he} takes {m} {item}.")
        change(s, who, x)


@template
def same_price_two_days(s):
    (n, (he, _, him)), = people(s, 1)
    item = s.rng.choice(ITEMS)
    a, b, p, c = s.number(2, 20), s.number(2, 20), s.number(2, 9), s.number(3, 60)
    facts = [f"On Monday {n} sells {a} {item}.", f"On Tuesday {n} sells {b} {item}.", f"All {item} cost {p} dollars each."]
    if s.chance(0.5):
        facts[:2] = [f"{n} sells {a} {item} in the morning and {b} in the evening."]
    s.say_shuffled(*facts)
    x = s.step("dollars", s.step(item, a, "+", b), "*", p)
    if s.chance(0.5):
        s.say(f"The {item} cost {him} {c} dollars.", f"{n} paid {c} dollars for the {item}.")
        s.say(f"How much money does {he} make?", f"How many dollars are left for {n}?")
        s.step("left", x, "-", c)
    else:
        s.say(f"How much money does {he} get in all?", f"How many dollars does {n} get for the {item}?")


@template
def cheaper_one(s):
    (n, (he, _, _)), = people(s, 1)
    a, d, k = s.number(8, 60), s.number(2, 20), s.number(2, 5)
    one, two = s.rng.sample(("bike", "game", "book", "ticket", "table", "ball", "tank"), 2)
    s.say(f"A {one} costs {a} dollars.", f"{n} buys a {one} for {a} dollars.")
    more = s.chance(0.5)
    s.say(f"A {two} costs {d} dollars {'more' if more else 'fewer'}.", f"A {two} is {d} dollars {'more' if more else 'fewer'} than a {one}.")
    b = s.step("other", a, "+" if more else "-", d)
    how = s.number(1, 3)
    if how == 1:
        s.say(f"How much do the {one} and the {two} cost together?", f"{n} takes one of each. How many dollars is that in all?")
        x = s.step("total", a, "+", b)
    else:
        s.say(f"A teacher needs one {two} for each of {k} teams. How many dollars does the teacher pay?",
              f"Each of {k} children gets a {two}. How much does that cost?")
        x = s.step("dollars", b, "*", k)
    if how == 3:
        money = x + s.number(2, 60)
        s.sentences[-1] = f"A teacher has {money} dollars and buys one {two} for each of {k} teams. How many dollars are left?"
        s.step("left", money, "-", x)


@template
def split_bill(s):
    k = s.number(2, 8)
    (n, _), = people(s, 1)
    p, q, c = s.number(2, 9), s.number(3, 15), s.number(2, 40)
    food = s.rng.choice(("pizzas", "cakes", "pies"))
    s.say(f"{n} and the others eat {p} {food} that cost {q} dollars each.", f"{n} takes friends out and they get {p} {food} at {q} dollars each.")
    x = s.step("dollars", p, "*", q)
    if s.chance(0.6):
        s.say(f"They also pay {c} dollars for music.", f"The water costs {c} dollars more.")
        x = s.step("total", x, "+", c)
    if s.chance(0.4):
        d = s.number(2, 20)
        s.say(f"A teacher pays {d} dollars of it.", f"The uncle of {n} pays {d} dollars.")
        x = s.step("left", x, "-", d)
    k = divisor(s, x, 2, 9)
    s.say(f"All {k} friends pay equally. How much does each pay?", f"The rest is shared equally among {k} people. How many dollars does each pay?",
          f"How much is it for each of the {k} friends if they share it equally?")
    s.step("each", x, "/", k)


@template
def weeks_until(s):
    (n, (he, his, him)), = people(s, 1)
    a, w, k = s.number(2, 20), s.number(2, 12), s.number(3, 60)
    price = k + a * w
    thing = s.rng.choice(("bike", "game", "boat", "trip", "tank"))
    unit = s.rng.choice(("week", "month", "day"))
    s.say_shuffled(s.rng.choice((f"{n} needs {price} dollars for a {thing}.", f"A {thing} for {n} costs {price} dollars.")),
                   s.rng.choice((f"{n} already has {k} dollars.", f"There are {k} dollars in the jar of {n}.")))
    if s.chance(0.5):
        f = s.number(2, 30)
        s.say(f"{his.capitalize()} {s.rng.choice(FAMILY)} gives {him} {f} more dollars.", f"Then {he} finds {f} dollars.")
        k = s.step("money", k, "+", f)
    x = s.step("more", price, "-", k)
    s.say(f"{he.capitalize()} saves {a} dollars each {unit}. After how many {unit}s does {he} have the money?",
          f"How many {unit}s does {he} need if {he} saves {a} dollars every {unit}?")
    s.step("days" if unit == "day" else "left", x, "/", a)


@template
def earn_and_spend_weekly(s):
    (n, (he, _, _)), = people(s, 1)
    e, c, w = s.number(8, 60), s.number(2, 40), s.number(2, 12)
    unit = s.rng.choice(("day", "week", "month"))
    s.say_shuffled(s.rng.choice((f"{n} earns {e} dollars every {unit}.", f"Each {unit} {n} gets {e} dollars.")),
                   s.rng.choice((f"Each {unit} {n} spends {c} dollars on lunch.", f"{n} pays {c} dollars a {unit} for a room.")))
    x = s.step("left", e, "-", c)
    s.say(f"The rest goes into a jar. How much money is in the jar after {w} {unit}s?", f"{he.capitalize()} saves the rest for {w} {unit}s. How much is that?",
          f"How many dollars does {he} have after {w} {unit}s?")
    x = s.step("saved", x, "*", w)
    if s.chance(0.5):
        k = s.number(2, 60)
        s.sentences[-1:] = [f"{he.capitalize()} saves the rest for {w} {unit}s and already had {k} dollars.", f"How much money does {n} have then?"]
        s.step("money", x, "+", k)


@template
def buy_low_sell_high(s):
    (n, (he, _, _)), = people(s, 1)
    item = s.rng.choice(ITEMS)
    p, d, k = s.number(2, 20), s.number(2, 12), s.number(3, 25)
    q = p + d
    s.say(f"{n} buys {k} {item} for {p} dollars each and sells all of them for {q} dollars each.",
          f"A store pays {p} dollars for each of {k} {item}. It sells them at {q} dollars each.",
          f"The store buys {item} at {p} dollars each and sells them at {q} dollars each. On Sunday {k} {item} are sold.")
    x = s.step("dollars", s.step("each", q, "-", p), "*", k)
    if s.chance(0.5):
        c = s.number(2, 40)
        s.say(f"The table at the market costs {c} dollars.", f"It also costs {c} dollars to get to the market.")
        x = s.step("left", x, "-", c)
    s.say("How many dollars are left in the end?", "How much more money is there in the end?", "How many more dollars are there after that?")


@template
def coins_worth(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, p, q = s.number(2, 25), s.number(2, 20), s.rng.choice((2, 5)), s.rng.choice((3, 4, 10))
    s.say_shuffled(f"A red ball is {p} points and a blue ball is {q} points.",
                   f"{n} has {a} red balls." if s.chance(0.5) else f"{n} gets {a} red balls.", f"{n} also has {b} blue balls.")
    x = s.step("total", s.step("red", a, "*", p), "+", s.step("blue", b, "*", q))
    if s.chance(0.5):
        k = divisor(s, x, 2, 9)
        s.say(f"A toy costs {k} points. How many toys can {he} get?", f"How many toys at {k} points each can {n} get?")
        s.step("toys", x, "/", k)
    else:
        k = x + s.number(2, 50)
        s.say(f"A game costs {k} points. How many more points does {n} need?", f"How many points are left to get until {he} has {k}?")
        s.step("more", k, "-", x)


@template
def gift_of_friends(s):
    (n, (he, his, him)), = people(s, 1)
    k, p, c = s.number(3, 15), s.number(2, 15), s.number(2, 50)
    price = k * p + c
    s.say(f"Each of {k} friends puts {p} dollars into a box for {n}.", f"{n} has {k} friends. Each of them pays {p} dollars for a party.", f"The {k} friends of {n} give {p} dollars each.")
    x = s.step("dollars", k, "*", p)
    if s.chance(0.5):
        d = s.number(2, 30)
        s.say(f"The teacher adds {d} dollars.", f"A neighbor of {n} gives {d} dollars more.")
        x = s.step("dollars", x, "+", d)
    if s.chance(0.5):
        price = x + s.number(3, 60)
        s.say(f"The bike for {him} costs {price} dollars. How much is still to pay?", f"How many more dollars do they need for a trip that costs {price} dollars?")
        s.step("more", price, "-", x)
    else:
        q = s.number(2, 40)
        s.say(f"They spend {q} dollars on balloons and the rest on a game. How much does the game cost?", f"After they pay {q} dollars for cakes, how much is left?")
        s.step("left", x, "-", q)


@template
def ticket_rest(s):
    [who] = people(s, 1)
    n, (he, his, him) = who
    money, k, p, c = s.number(40, 300), s.number(2, 9), s.number(2, 15), s.number(2, 40)
    place = s.rng.choice(("zoo", "museum", "pool", "show"))
    s.say(f"{n} goes to the {place} with {money} dollars.", f"{n} has {money} dollars for a day at the {place}.")
    s.say_shuffled(s.rng.choice((f"{he.capitalize()} buys {k} tickets at {p} dollars each.", f"For {k} children {he} pays {p} dollars each.")),
                   s.rng.choice((f"The lunch costs {c} dollars.", f"{n} spends {c} dollars on lunch.")))
    x = s.step("total", s.step("dollars", k, "*", p), "+", c)
    x = s.step("left", money, "-", x)
    if s.chance(0.3) and x % 2 == 0:
        s.say(f"Half of the rest is for {his} {s.rng.choice(FAMILY)}. How much is that?", f"At home {he} gives half of the rest away. How much money does {n} keep?")
        s.step("left", x, "/", 2)
    else:
        s.say(f"How much money is left for {him}?", f"How many dollars does {n} have in the end?", f"How many dollars does {n} take back home?")


@template
def boxes_and_price(s):
    (n, (he, _, _)), = people(s, 1)
    item, (box, many) = s.rng.choice(ITEMS), s.rng.choice(BOXES)
    b, k, p = s.number(2, 15), s.number(2, 12), s.number(2, 9)
    x = b * k
    s.say(f"{n} needs {x} {item}.", f"For a party {n} needs {x} {item}.", f"The class of {n} needs {x} {item}.")
    s.say_shuffled(s.rng.choice((f"There are {k} {item} in a {box}.", f"Each {box} has {k} {item}.")), s.rng.choice((f"A {box} costs {p} dollars.", f"The store sells each {box} for {p} dollars.")))
    y = s.step("dollars", s.step(many, x, "/", k), "*", p)
    if s.chance(0.5):
        money = y + s.number(2, 60)
        s.say(f"How much of {money} dollars is left after that?", f"{he.capitalize()} has {money} dollars. How many dollars are left after {he} buys everything?")
        s.step("left", money, "-", y)
    else:
        s.say(f"How much does {he} pay?", f"How many dollars do the {many} cost {n}?", f"How much money does {n} need?")


@template
def money_question_first(s):
    (n, (he, _, _)), (m, _) = people(s, 2)
    one, two = s.rng.sample(ITEMS, 2)
    a, p, b, q = s.number(2, 9), s.number(2, 12), s.number(2, 9), s.number(2, 12)
    s.say(f"How much more does {n} pay than {m}?", f"{n} spends more than {m}. How many dollars more is it?")
    s.say_shuffled(f"{n} buys {a} {one} at {p} dollars each.", f"{m} buys {b} {two} at {q} dollars each.")
    s.step("more", s.step(n, a, "*", p), "-", s.step(m, b, "*", q))


@template
def jars_of_money(s):
    (n, (he, _, _)), = people(s, 1)
    a, d, f = s.number(5, 60), s.number(2, 30), s.number(2, 4)
    s.say(f"{n} has three jars. In the red jar are {a} dollars.", f"There are {a} dollars in the red jar of {n}.")
    s.say_shuffled(f"The blue jar has {times(s, f)} as much money as the red jar.", f"The green jar has {d} dollars more than the red jar.")
    b, c = s.step("blue", a, "*", f), s.step("green", a, "+", d)
    x = s.step("total", s.step("total", a, "+", b), "+", c)
    if s.chance(0.5):
        k = divisor(s, x, 2, 9)
        s.say(f"All the money is shared among {k} children. How many dollars does each child get?", f"How many tickets at {k} dollars each can {n} pay with all of it?")
        s.step("each", x, "/", k)
    else:
        s.say("How much money is in the three jars?", f"How much money does {n} have in all?")


@template
def work_rates(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, p, q = s.number(2, 9), s.number(2, 9), s.number(3, 15), s.number(3, 15)
    one, two = s.rng.sample(("store", "farm", "school", "library", "museum", "zoo"), 2)
    s.say(f"At the {one} {n} earns {p} dollars an hour. At the {two} it is {q} dollars an hour.", f"{n} earns {p} dollars an hour at the {one} and {q} dollars an hour at the {two}.")
    s.say(f"{he.capitalize()} works {a} hours at the {one} and {b} hours at the {two}.", f"This week {he} works {b} hours at the {two} and {a} hours at the {one}.")
    x = s.step("total", s.step("dollars", a, "*", p), "+", s.step("dollars", b, "*", q))
    if s.chance(0.4):
        w = s.number(2, 4)
        s.say(f"How much is that after {w} weeks?", f"How many dollars does {n} earn in {w} weeks?")
        s.step("dollars", x, "*", w)
    elif s.chance(0.5):
        c = s.number(3, 60)
        s.say(f"{he.capitalize()} pays {c} dollars for a bike. How much money is left?", f"How much does {n} have after {he} spends {c} dollars?")
        s.step("left", x, "-", c)
    else:
        s.say(f"How much does {n} earn?", f"How many dollars is that together?")


@template
def hourly_with_extra(s):
    (n, (he, his, him)), = people(s, 1)
    total_hours, rate, extra = s.number(3, 12), s.number(3, 12), s.number(2, 40)
    total = rate * total_hours + extra
    s.say(f"{n} gets {total} dollars for {total_hours} hours of work.", f"For {total_hours} hours of work {n} gets {total} dollars.")
    s.say(f"Of that, {extra} dollars are for lunch.", f"The lunch money in it is {extra} dollars.")
    x = s.step("dollars", total, "-", extra)
    s.say(f"How many dollars does {he} earn an hour?", "How much is it for each hour of work?")
    s.step("hour", x, "/", total_hours)
    if s.chance(0.5):
        h = s.number(2, 9)
        s.sentences.pop()
        s.say(f"How much does {he} earn for {h} hours of work?", f"How many dollars does {n} earn in {h} hours?")
        s.step("dollars", s.last, "*", h)
