"""Two or three people compared: more, fewer, times as many, half, differences, told in any order."""

from math_stories import BOXES, FAMILY, ITEMS, Reject, divisor, people, template, times

# (verb with he, verb with they, things): what people do with things that can be counted.
DEEDS = (("runs", "run", ("laps", "miles")), ("makes", "make", ("toys", "cakes", "pictures", "cards")),
         ("sells", "sell", ("tickets", "cookies", "roses", "eggs")), ("eats", "eat", ("candies", "peaches", "slices")),
         ("gets", "get", ("points", "letters", "stickers")))


def deed(s):
    verb, plain, things = s.rng.choice(DEEDS)
    return verb, plain, s.rng.choice(things)


def compared(s, a, verb, item, n, m):
    """What m does compared with n, who does a of them: (sentence, operation, operand)."""
    kind = s.rng.choice("+-*/")
    if kind == "+":
        d = s.number(2, 30)
        return s.rng.choice((f"{m} {verb} {d} more {item} than {n}.", f"{m} {verb} {d} {item} more than {n}.")), "+", d
    if kind == "-":
        if a < 4:
            raise Reject
        d = s.number(2, min(30, a - 1))
        return s.rng.choice((f"{m} {verb} {d} fewer {item} than {n}.", f"{m} {verb} {d} {item} fewer than {n}.")), "-", d
    if kind == "*":
        f = s.number(2, 5)
        return f"{m} {verb} {times(s, f)} as many {item} as {n}.", "*", f
    if a % 2:
        raise Reject
    return f"{m} {verb} half as many {item} as {n}.", "/", 2


@template
def deeds_of_three(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    verb, plain, item = deed(s)
    a = s.number(4, 60)
    second, op, d = compared(s, a, verb, item, n, m)
    b = s.step(m, a, op, d)
    third, op2, e = compared(s, b, verb, item, m, k)
    if (op, op2) == ("*", "-"):
        raise Reject  # this chain belongs to the unseen part of the test set
    c = s.step(k, b, op2, e)
    s.say_shuffled(f"{n} {verb} {a} {item}.", second, third)
    how = s.number(1, 4)
    if how == 1:
        s.say(f"How many {item} does {k} {plain}?")
    elif how == 2:
        s.say(f"How many {item} do {m} and {k} {plain} together?", f"{m} and {k} put everything together. How many {item} is that?")
        s.step("total", b, "+", c)
    elif how == 3:
        if c == a:
            raise Reject
        more, less, x, y = (k, n, c, a) if c > a else (n, k, a, c)
        s.say(f"How many more {item} does {more} {plain} than {less}?", f"How many fewer {item} does {less} {plain} than {more}?")
        s.step("more", x, "-", y)
    else:
        s.say(f"How many {item} do they {plain} in all?", f"How many {item} do the three friends {plain} together?")
        s.step("total", s.step("total", a, "+", b), "+", c)


@template
def both_like_first(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    verb, plain, item = deed(s)
    a = s.number(4, 60)
    second, op, d = compared(s, a, verb, item, n, m)
    third, op2, e = compared(s, a, verb, item, n, k)
    b, c = s.step(m, a, op, d), s.step(k, a, op2, e)
    s.sentences += [second, third]
    s.sentences.insert(s.number(0, 2), f"{n} {verb} {a} {item}.")
    if s.chance(0.5):
        s.say(f"How many {item} do {m} and {k} {plain} together?", f"How many {item} is that for {m} and {k} together?")
        x = s.step("total", b, "+", c)
        if s.chance(0.4) and x > a:
            s.sentences[-1] = f"How many more {item} do {m} and {k} {plain} together than {n}?"
            s.step("more", x, "-", a)
    else:
        s.say(f"How many {item} do they {plain} in all?", f"How many {item} do all three {plain}?")
        s.step("total", s.step("total", a, "+", b), "+", c)


@template
def question_first_compare(s):
    (n, _), (m, _) = people(s, 2)
    verb, plain, item = deed(s)
    a = s.number(4, 80)
    second, op, d = compared(s, a, verb, item, n, m)
    b = s.step(m, a, op, d)
    total = s.step("total", a, "+", b)
    if s.chance(0.5):
        k = divisor(s, total, 2, 9)
        s.say(f"How many groups of {k} can {n} and {m} make from all the {item} they {plain}?")
        s.step("groups", total, "/", k)
    else:
        s.say(f"How many {item} do {n} and {m} {plain} in all?", f"How many {item} do {n} and {m} {plain} together?")
    s.say_shuffled(f"{n} {verb} {a} {item}.", second)


@template
def gives_to_other(s):
    (n, (he, _, _)), (m, (she, _, her)) = people(s, 2)
    item = s.rng.choice(ITEMS)
    a, b, c = s.number(10, 90), s.number(3, 60), s.number(2, 20)
    s.say(f"{n} has {a} {item} and {m} has {b}.", f"{m} has {b} {item}. {n} has {a} of them.", f"There are {a} {item} in the bag of {n} and {b} in the bag of {m}.")
    s.say(f"{n} gives {c} {item} to {m}.", f"{m} gets {c} of the {item} from {n}.", f"{m} takes {c} {item} from {n}.")
    x, y = s.step(n, a, "-", c), s.step(m, b, "+", c)
    if s.chance(0.4):
        d = s.number(2, 20)
        s.say(f"Later {m} buys {d} more.", f"Then {m} finds {d} {item}.")
        y = s.step(m, y, "+", d)
    if x > y:
        s.say(f"How many more {item} does {n} have now than {m}?", f"How many fewer {item} does {m} have now?")
        s.step("more", x, "-", y)
    else:
        s.say(f"How many more {item} does {m} have now than {n}?", f"How many fewer {item} does {n} have now?")
        s.step("more", y, "-", x)


@template
def equal_after_giving(s):
    (n, _), (m, _) = people(s, 2)
    item = s.rng.choice(ITEMS)
    b, d = s.number(3, 60), 2 * s.number(1, 30)
    a = b + d
    s.say(f"{n} has {a} {item} and {m} has {b} {item}.", f"{m} has {b} {item} and {n} has {a}.")
    if s.chance(0.5):
        s.say(f"How many {item} does {n} give to {m} until they have equally many?", f"{n} wants to give {m} {item} until they are equal. How many {item} is that?")
        s.step("each", s.step("more", a, "-", b), "/", 2)
    else:
        s.say("They put everything together and share it equally. How many does each get?", f"They put all {item} on a table. Each takes half. How many {item} does each have now?")
        s.step("each", s.step("total", a, "+", b), "/", 2)


@template
def bags_of_two(s):
    (n, _), (m, _) = people(s, 2)
    item, (box, many) = s.rng.choice(ITEMS), s.rng.choice(BOXES)
    p, q, r, t = s.number(2, 12), s.number(2, 15), s.number(2, 12), s.number(2, 15)
    s.say(f"{n} has {p} {many} with {q} {item} in each.", f"{n} has {p} {many} of {q} {item}.")
    s.say(f"{m} has {r} {many} with {t} {item} in each {box}.", f"There are {t} {item} in each of the {r} {many} of {m}.")
    x, y = s.step(n, p, "*", q), s.step(m, r, "*", t)
    if s.chance(0.5):
        s.say(f"How many {item} do they have in all?", f"How many {item} are in the {many} together?")
        total = s.step("total", x, "+", y)
        if s.chance(0.4):
            k = divisor(s, total, 2, 8)
            s.sentences[-1] = f"All the {item} go to {k} children. How many {item} does each of them get?"
            s.step("each", total, "/", k)
    else:
        a, b, x, y = (n, m, x, y) if x > y else (m, n, y, x)
        s.say(f"How many more {item} does {a} have than {b}?", f"How many fewer {item} does {b} have than {a}?")
        s.step("more", x, "-", y)


@template
def together_known(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    verb, plain, item = deed(s)
    a, b, c = s.number(5, 80), s.number(5, 80), s.number(5, 80)
    total = a + b + c
    s.say_shuffled(s.rng.choice((f"{n}, {m} and {k} {plain} {total} {item} in all.", f"{n}, {m} and {k} {plain} {total} {item} together.")),
                   f"{n} {verb} {a} of them.", f"{m} {verb} {b} of them.")
    x = s.step("left", total, "-", a)
    x = s.step(k, x, "-", b)
    if s.chance(0.5):
        s.say(f"How many {item} does {k} {plain}?", f"{k} {verb} the rest. How many {item} is that?")
    elif x > a:
        s.say(f"{k} {verb} the rest. How many more {item} is that than {n} {verb}?", f"How many more {item} does {k} {plain} than {n}?")
        s.step("more", x, "-", a)
    else:
        f = s.number(2, 3)
        s.say(f"{k} {verb} the rest. {k} wants to {plain} {times(s, f)} as many the next day. How many {item} is that?")
        s.step(k, x, "*", f)


@template
def family_ages(s):
    (n, (he, his, _)), = people(s, 1)
    one, two = s.rng.sample(FAMILY[:6], 2)
    a, f, d, y = s.number(4, 14), s.number(2, 5), s.number(2, 12), s.number(2, 15)
    s.say_shuffled(f"{n} is {a} years old.", f"The {one} of {n} is {times(s, f)} as old as {n}.")
    b = s.step("old", a, "*", f)
    if s.chance(0.6):
        s.say(f"{his.capitalize()} {two} is {d} years younger than {his} {one}.", f"The {two} is {d} years younger than the {one}.")
        b = s.step("old", b, "-", d)
    else:
        two = one
    if s.chance(0.5):
        s.say(f"How old is {his} {two} in {y} years?", f"How old will the {two} be after {y} years?")
        s.step("old", b, "+", y)
    else:
        s.say(f"How many years older than {n} is the {two}?", f"How many years younger is {n} than {his} {two}?")
        s.step("more", b, "-", a)


@template
def years_ago(s):
    (n, _), (m, _) = people(s, 2)
    a, y, f, z = s.number(8, 60), s.number(2, 7), s.number(2, 4), s.number(2, 20)
    if s.chance(0.5):
        s.say(f"{n} will be {a + y} years old in {y} years.", f"In {y} years {n} will be {a + y} years old.")
        a = s.step(n, a + y, "-", y)
        s.say(f"{m} is {times(s, f)} as old as {n} now.", f"Today {m} is {times(s, f)} as old as {n}.")
        b = s.step(m, a, "*", f)
    else:
        f = divisor(s, a, 2, 5)
        s.say(f"{n} is {a} years old. {n} is {times(s, f)} as old as {m}.", f"{n} is {times(s, f)} as old as {m}. {n} is {a} years old.")
        b = s.step(m, a, "/", f)
    s.say(f"How old will {m} be in {z} years?", f"How old is {m} after {z} years?")
    s.step(m, b, "+", z)


@template
def inverse_times(s):
    (n, _), (m, _), (k, _) = people(s, 3)
    item = s.rng.choice(ITEMS)
    b, f, d = s.number(3, 50), s.number(2, 5), s.number(2, 20)
    a = b * f
    s.say_shuffled(f"{n} has {a} {item}.", f"{n} has {times(s, f)} as many {item} as {m}.")
    s.step(m, a, "/", f)
    how = s.number(1, 3)
    if how == 1:
        s.say(f"How many {item} do {n} and {m} have together?", f"They put everything on a table. How many {item} are there?")
        s.step("total", a, "+", b)
    elif how == 2:
        s.say(f"{k} has {d} more {item} than {m}.", f"{m} has {d} {item} fewer than {k}.")
        c = s.step(k, b, "+", d)
        s.say(f"How many {item} do {m} and {k} have in all?")
        s.step("total", b, "+", c)
    else:
        s.say(f"Then {m} gets {d} more {item}. How many {item} does {m} have now?", f"How many {item} does {m} have after {m} buys {d} more?")
        s.step(m, b, "+", d)


@template
def inverse_more(s):
    (n, (he, _, _)), (m, (she, _, _)) = people(s, 2)
    verb, plain, item = deed(s)
    a, d = s.number(8, 80), s.number(2, 40)
    if s.chance(0.5):
        s.say(f"{n} {verb} {a} {item}. That is {d} more than {m}.", f"{n} {verb} {d} more {item} than {m}. {n} {verb} {a} {item}.")
        b = s.step(m, a, "-", d)
    else:
        s.say(f"{n} {verb} {a} {item}. That is {d} fewer than {m}.", f"{n} {verb} {d} fewer {item} than {m}. {n} {verb} {a} {item}.")
        b = s.step(m, a, "+", d)
    if s.chance(0.5):
        f = s.number(2, 3)
        s.say(f"The next day {m} {verb} {times(s, f)} as many. How many {item} is that?", f"How many {item} is that if {she} {verb} {times(s, f)} as many the next day?")
        s.step(m, b, "*", f)
    else:
        s.say(f"How many {item} do they {plain} together?", f"How many {item} is that in all?")
        s.step("total", a, "+", b)


@template
def team_points(s):
    a, b, c, d = (s.number(3, 60) for _ in range(4))
    s.say("There are two teams in a game.", "A red team plays a game with a blue team.")
    s.say_shuffled(f"The red team gets {a} points in the morning and {b} points in the evening.",
                   f"The blue team gets {c} points in the morning and {d} points in the evening.")
    x, y = s.step("red", a, "+", b), s.step("blue", c, "+", d)
    if s.chance(0.3):
        e = s.number(2, 20)
        s.say(f"Then the blue team gets {e} more points.", f"The blue team also gets {e} points for music.")
        y = s.step("blue", y, "+", e)
    one, two, x, y = ("red", "blue", x, y) if x > y else ("blue", "red", y, x)
    s.say(f"How many more points does the {one} team have in the end?", f"How many fewer points does the {two} team have?",
          f"How many points does the {two} team still need to be equal?")
    s.step("more", x, "-", y)


@template
def two_classes(s):
    a, d, k = s.number(10, 60), s.number(2, 15), s.number(2, 4)
    who = s.rng.choice(("children", "adults", "people"))
    s.say(f"A school has two rooms. There are {a} {who} in one room.", f"There are {a} {who} in one room of the museum.")
    if s.chance(0.5):
        s.say(f"In the other room are {d} more {who}.", f"The other room has {d} more {who}.")
        b = s.step("other", a, "+", d)
    else:
        s.say(f"In the other room are {d} fewer {who}.", f"The other room has {d} fewer {who}.")
        b = s.step("other", a, "-", d)
    x = s.step(who, a, "+", b)
    if s.chance(0.4):
        e = s.number(2, 30)
        s.say(f"Then {e} of them go home.", f"Later {e} {who} leave.")
        x = s.step("left", x, "-", e)
    if s.chance(0.5):
        s.say(f"All who are there get {k} books each. How many books is that in all?", f"How many pencils do they need if each gets {k} pencils?")
        s.step("total", x, "*", k)
    else:
        g = divisor(s, x, 2, 9)
        s.say(f"All who are still there go to the zoo in {g} equal groups. How many {who} are in each group?", f"Tables for {g} are put up. How many tables do they need?")
        s.step("each" if "equal groups" in s.sentences[-1] else "tables", x, "/", g)


@template
def three_shelves(s):
    item = s.rng.choice(("books", "toys", "jars", "boxes"))
    a = s.number(4, 50)
    second, op, d = compared(s, a, "has", item, "the red shelf", "The blue shelf")
    b = s.step("blue", a, op, d)
    s.say_shuffled(f"There are {a} {item} on the red shelf.", second)
    x = s.step("total", a, "+", b)
    if s.chance(0.5):
        c = s.number(2, 40)
        s.say(f"A green shelf has {c} {item}.", f"There are also {c} {item} on a green shelf.")
        x = s.step("total", x, "+", c)
    if s.chance(0.5):
        e = s.number(2, 30)
        s.say(f"Children take {e} {item} away.", f"Then {e} of the {item} are sold.")
        x = s.step("left", x, "-", e)
    s.say(f"How many {item} are on the shelves in all?", f"How many {item} are there now?", f"How many {item} do the shelves have together?")


@template
def rates_of_two(s):
    (n, _), (m, _) = people(s, 2)
    verb, plain, item = deed(s)
    a, b, p, q = s.number(2, 15), s.number(2, 15), s.number(2, 9), s.number(2, 9)
    s.say(f"{n} {verb} {a} {item} every hour for {p} hours.", f"For {p} hours {n} {verb} {a} {item} an hour.",
          f"{n} works for {p} hours and {verb} {a} {item} each hour.")
    s.say(f"{m} {verb} {b} {item} an hour for {q} hours.", f"Every hour {m} {verb} {b} {item}, for {q} hours.")
    x, y = s.step(n, a, "*", p), s.step(m, b, "*", q)
    if s.chance(0.5):
        s.say(f"How many {item} do {n} and {m} {plain} in all?", f"How many {item} is that together?")
        s.step("total", x, "+", y)
    else:
        n, m, x, y = (n, m, x, y) if x > y else (m, n, y, x)
        s.say(f"How many more {item} does {n} {plain} than {m}?", f"How many fewer {item} does {m} {plain} than {n}?")
        s.step("more", x, "-", y)


@template
def bakers(s):
    (n, _), (m, _) = people(s, 2)
    food = s.rng.choice(("cookies", "muffins", "rolls"))
    a, b, d, c = s.number(2, 8), s.number(3, 15), s.number(2, 20), s.number(2, 30)
    s.say(f"{n} bakes {a} trays of {b} {food}.", f"There are {b} {food} on each of the {a} trays of {n}.")
    x = s.step(n, a, "*", b)
    more = s.chance(0.6)
    s.say(f"{m} bakes {d} {'more' if more else 'fewer'} {food} than {n}.", f"{m} makes {d} {food} {'more' if more else 'fewer'} than {n}.")
    y = s.step(m, x, "+" if more else "-", d)
    z = s.step("total", x, "+", y)
    s.say("They bring everything to a party.", f"All the {food} are put on a table.", f"{n} and {m} put the {food} into a box.")
    if s.chance(0.6):
        s.say(f"Children eat {c} of them.", f"Of all the {food}, {c} are eaten.")
        z = s.step("left", z, "-", c)
    if s.chance(0.5):
        k = divisor(s, z, 2, 9)
        s.say(f"The rest is for {k} friends. How many {food} does each get?", f"How many {food} does each of {k} people get if they share what is there?")
        s.step("each", z, "/", k)
    else:
        s.say(f"How many {food} are there now?", f"How many {food} are on the table in the end?")


@template
def savers_compared(s):
    (n, _), (m, _) = people(s, 2)
    unit = s.rng.choice(("week", "month"))
    a, w, d = s.number(3, 20), s.number(2, 10), s.number(2, 9)
    kind = s.rng.choice("-*+")
    s.say(f"{n} puts {a} dollars into a jar each {unit}.", f"{n} saves {a} dollars every {unit}.")
    if kind == "*":
        f = s.number(2, 4)
        s.say(f"Each {unit} {m} saves {times(s, f)} as much as {n}.", f"{m} puts {times(s, f)} as many dollars into a bag each {unit}.")
        b = s.step(m, a, "*", f)
    else:
        word = "more" if kind == "+" else "fewer"
        s.say(f"{m} puts {d} dollars {word} into a bag each {unit}.", f"Each {unit} {m} saves {d} {word} dollars than {n}.")
        b = s.step(m, a, kind, d)
    how = s.number(1, 3)
    if how == 1:
        s.say(f"How many dollars are in the bag of {m} after {w} {unit}s?", f"How much money does {m} have after {w} {unit}s?")
        s.step(m, b, "*", w)
    elif how == 2:
        s.say(f"How much money do the two have after {w} {unit}s?", f"How many dollars is that for {n} and {m} together in {w} {unit}s?")
        s.step("total", s.step("each", a, "+", b), "*", w)
    else:
        price = b * w
        s.say(f"After how many {unit}s can {m} pay {price} dollars for a bike?", f"{m} needs {price} dollars. How many {unit}s is that?")
        s.step("left", price, "/", b)
