"""Groups of groups, what is left of them, time and rates; questions at either end."""

from math_stories import BOXES, FAMILY, ITEMS, divisor, people, share, template, times


@template
def groups_of_groups(s):
    item, (box, many) = s.rng.choice(ITEMS), s.rng.choice(BOXES)
    a, b, c = s.number(2, 9), s.number(2, 8), s.number(2, 9)
    outer, outers = s.rng.choice((("room", "rooms"), ("table", "tables"), ("shelf", "shelves")))
    s.say_shuffled(*s.rng.choice((
        (f"There are {a} {outers} in a store.", f"Each {outer} has {b} {many}.", f"Each {box} has {c} {item}."),
        (f"A school has {a} {outers} with {b} {many} in each.", f"There are {c} {item} in each {box}."))))
    x = s.step(item, s.step(many, a, "*", b), "*", c)
    if s.chance(0.5):
        d = s.number(2, 40)
        s.say(f"Then {d} {item} are taken away.", f"On Friday {d} {item} break.", f"Children get {d} of the {item}.")
        x = s.step("left", x, "-", d)
    if s.chance(0.3):
        share(s, x, item)
    else:
        s.say(f"How many {item} are there in all?", f"How many {item} is that?", f"How many {item} are in the {many} now?")


@template
def sold_twice(s):
    (n, _), = people(s, 1)
    food = s.rng.choice(("rolls", "muffins", "cakes", "pies", "cookies"))
    a, b, c, d = s.number(3, 12), s.number(4, 20), s.number(3, 40), s.number(3, 40)
    s.say(f"A store has {a} trays with {b} {food} on each tray.", f"There are {b} {food} on each of the {a} trays in a store.")
    x = s.step("total", a, "*", b)
    s.say(f"In the morning {c} {food} are sold and in the evening {d} more.", f"Before lunch {c} are sold. After lunch {d} are sold.",
          f"{n} takes {c} of them and the others take {d}.")
    x = s.step("left", x, "-", s.step("taken", c, "+", d))
    if s.chance(0.4):
        k = divisor(s, x, 2, 12)
        s.say(f"The rest is put on {k} tables equally. How many {food} are on each table?", f"The others are put into {k} equal groups. How many are in each group?")
        s.step("each", x, "/", k)
    else:
        s.say(f"How many {food} are left?", f"How many {food} does the store still have?")


@template
def handed_out(s):
    item, (box, many) = s.rng.choice(ITEMS), s.rng.choice(BOXES)
    a, b, c, d = s.number(2, 9), s.number(8, 40), s.number(2, 15), s.number(2, 15)
    s.say_shuffled(s.rng.choice((f"There are {b} {item} in each {box}.", f"Each {box} has {b} {item}.")),
                   s.rng.choice((f"A teacher opens {a} {many}.", f"A school gets {a} {many} from the store.")))
    x = s.step(item, a, "*", b)
    s.say(f"On Monday {c} adults and {d} children get one each.", f"One group of children takes {c} {item} and one takes {d}.",
          f"The children get {c} {item} and the adults get {d}.")
    y = s.step("taken", c, "+", d)
    if s.chance(0.4):
        f = s.number(2, 3)
        s.say(f"The next day {times(s, f)} as many {item} are taken.", f"On Tuesday {times(s, f)} as many are taken.")
        y = s.step("total", y, "+", s.step("taken", y, "*", f))
    s.say(f"How many {item} are left?", f"How many {item} does the school still have?", f"How many {item} are there for the others?")
    s.step("left", x, "-", y)


@template
def clock(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, d, k = s.number(5, 60), s.number(5, 40), s.number(2, 20), s.number(2, 6)
    s.say(f"{n} works on math for {a} minutes each day.", f"Every day {n} needs {a} minutes for math.")
    more = s.chance(0.5)
    s.say(f"Music takes {d} {'more' if more else 'fewer'} minutes than math.", f"{he.capitalize()} plays music for {d} minutes {'more' if more else 'fewer'} than that.")
    m = s.step("other", a, "+" if more else "-", d)
    x = s.step("total", a, "+", m)
    if s.chance(0.5):
        s.say(f"How many minutes is that in {k} days?", f"How many minutes of work are that after {k} days?")
        s.step("total", x, "*", k)
    else:
        whole = x + s.number(5, 90)
        s.say(f"{he.capitalize()} has {whole} minutes a day and reads for the rest. How many minutes are left to read?",
              f"How many minutes of {whole} are left after that?")
        s.step("left", whole, "-", x)


@template
def half_then_rest(s):
    (n, (he, his, him)), = people(s, 1)
    item = s.rng.choice(ITEMS)
    k, g, c = s.number(2, 8), s.number(2, 12), s.number(2, 20)
    a = 2 * (k * g + c)
    s.say(f"{n} has {a} {item}.", f"There are {a} {item} on the table of {n}.", f"{n} makes a game with {a} {item}.")
    s.say(f"Half of them are for {his} {s.rng.choice(FAMILY)}.", f"{he.capitalize()} puts half of them into a box for {his} {s.rng.choice(FAMILY)}.")
    x = s.step("left", a, "/", 2)
    s.say(f"Of the rest {he} gives {c} to a neighbor.", f"From the others {he} loses {c}.")
    x = s.step("left", x, "-", c)
    s.say(f"The rest goes to {k} children equally. How many {item} does each child get?", f"What is left is shared equally among {k} friends. How many {item} is that for each?",
          f"How many {item} are in each group if {he} makes {k} equal groups from the rest?")
    s.step("each", x, "/", k)


@template
def two_colors_boxes(s):
    item = s.rng.choice(("balls", "beads", "marbles", "buttons", "blocks", "stones"))
    a, b, p, q = s.number(2, 9), s.number(2, 9), s.number(3, 15), s.number(3, 15)
    s.say_shuffled(s.rng.choice((f"There are {a} red boxes with {p} {item} in each.", f"Each of {a} red boxes has {p} {item}.", f"Each red box has {p} {item} and there are {a} red boxes.")),
                   s.rng.choice((f"There are {b} blue boxes with {q} {item} in each.", f"Each of {b} blue boxes has {q} {item}.")))
    x, y = s.step("red", a, "*", p), s.step("blue", b, "*", q)
    if s.chance(0.5):
        s.say(f"How many {item} are in the boxes?", f"How many {item} are there in all?")
        x = s.step("total", x, "+", y)
        if s.chance(0.5):
            c = s.number(2, 50)
            s.sentences[-1] = s.rng.choice((f"A child takes {c} {item} out of the boxes. How many {item} are left?", f"If {c} {item} are sold, how many are left?"))
            s.step("left", x, "-", c)
    else:
        one, two, x, y = ("red", "blue", x, y) if x > y else ("blue", "red", y, x)
        s.say(f"How many more {item} are in the {one} boxes?", f"How many fewer {item} are in the {two} boxes than in the {one} boxes?")
        s.step("more", x, "-", y)


@template
def filling_and_leaking(s):
    a, d, m = s.number(6, 40), s.number(2, 30), s.number(3, 15)
    what = s.rng.choice(("tank", "barrel", "pool"))
    s.say_shuffled(s.rng.choice((f"Every minute {a} liters of water run into a {what}.", f"A {what} gets {a} liters of water each minute.")),
                   s.rng.choice((f"In each minute {d} liters run out.", f"Every minute {d} liters run out of it.")))
    x = s.step("liters", a, "-", d)
    s.say(f"How many liters are in the {what} after {m} minutes?", f"This goes on for {m} minutes. How many liters of water are there then?")
    x = s.step("liters", x, "*", m)
    if s.chance(0.6):
        k = s.number(5, 80)
        s.sentences.pop()
        s.say(f"There were {k} liters in the {what} before that.", f"The {what} already had {k} liters.")
        s.say(f"How many liters are there after {m} minutes?", f"How many liters of water are in the {what} {m} minutes later?")
        s.step("liters", x, "+", k)


@template
def how_long(s):
    (n, (he, _, _)), = people(s, 1)
    v, h, c = s.number(3, 40), s.number(2, 9), s.number(3, 60)
    done, plain, what = s.rng.choice((("drives", "drives", "miles"), ("reads", "read", "pages"), ("runs", "run", "laps"), ("makes", "make", "letters")))
    total = v * h + c
    s.say(f"{n} needs {total} {what} in all.", f"{n} wants to get to {total} {what}.")
    s.say(f"{he.capitalize()} already has {c} {what}.", f"On Monday {he} {done} {c} {what}.")
    if s.chance(0.4):
        e = s.number(2, 30)
        s.say(f"On Tuesday it is {e} {what}.", f"After that {he} {done} {e} more {what}.")
        c = s.step(what, c, "+", e)
    x = s.step("left", total, "-", c)
    s.say(f"Then {he} {done} {v} {what} an hour. How many hours does {n} need for the rest?", f"At {v} {what} an hour, how many more hours is that?")
    s.step("hours", x, "/", v)


@template
def there_and_back(s):
    (n, (he, _, _)), = people(s, 1)
    a, d, w, p = s.number(2, 20), s.number(2, 7), s.number(2, 4), s.number(2, 3)
    place = s.rng.choice(("school", "library", "city", "farm", "market", "pool"))
    s.say(f"It is {a} miles from the house of {n} to the {place}.", f"The {place} is {a} miles away from the home of {n}.")
    x = s.step("each", a, "*", 2)
    s.say(f"{he.capitalize()} rides there and back on {d} days a week.", f"Every week {he} drives to the {place} and back {d} times.")
    x = s.step("miles", x, "*", d)
    if s.chance(0.6):
        s.say(f"How many miles is that in {w} weeks?", f"How many miles does {he} have after {w} weeks?")
        s.step("miles", x, "*", w)
    else:
        c = s.number(3, 40)
        s.say(f"On Sunday {he} rides {c} more miles. How many miles is that in all?", f"There are also {c} miles on Sunday. How many miles are there in a week?")
        s.step("miles", x, "+", c)


@template
def animals_eat(s):
    one, two = s.rng.sample(("cows", "horses", "sheep", "goats", "chickens", "ducks"), 2)
    a, b, p, q, d = s.number(2, 12), s.number(2, 12), s.number(2, 6), s.number(2, 6), s.number(2, 7)
    food = s.rng.choice(("apples", "rolls", "liters"))
    s.say(f"A farm has {a} {one} and {b} {two}.", f"There are {a} {one} and {b} {two} in a zoo.")
    s.say_shuffled(s.rng.choice((f"Each of the {one} gets {p} {food} a day.", f"Every day the {one} eat {p} {food} each.")),
                   s.rng.choice((f"Each of the {two} gets {q} {food} a day.", f"Every day the {two} eat {q} {food} each.")))
    x = s.step("total", s.step(one, a, "*", p), "+", s.step(two, b, "*", q))
    how = s.number(1, 3)
    if how == 1:
        s.say(f"How many {food} do the animals need a day?", f"How many {food} is that every day?")
    elif how == 2:
        s.say(f"How many {food} do they need for {d} days?", f"How many {food} is that in {d} days?")
        s.step(food, x, "*", d)
    else:
        c = x + s.number(2, 60)
        s.say(f"There are {c} {food} in the morning. How many {food} are left in the evening?", f"How many of {c} {food} are left after one day?")
        s.step("left", c, "-", x)


@template
def legs_of_a_room(s):
    n = s.rng.choice(("tables", "chairs"))
    a, b, c = s.number(2, 20), s.number(2, 20), s.number(2, 15)
    s.say(f"A room has {a} tables and {b} chairs.", f"There are {b} chairs and {a} tables in a room.")
    if s.chance(0.5):
        s.say(f"Then {c} more {n} are brought in.", f"Later the teacher brings {c} more {n}.")
        if n == "tables":
            a = s.step("tables", a, "+", c)
        else:
            b = s.step("chairs", b, "+", c)
    s.say("Each table has 4 legs and each chair has 3 legs.", "A chair has 3 legs and a table has 4 legs.")
    s.say("How many legs are there in all?", "How many legs are in the room?")
    s.step("legs", s.step("tables", a, "*", 4), "+", s.step("chairs", b, "*", 3))


@template
def absent_children(s):
    a, b, c, p = s.number(2, 6), s.number(10, 30), s.number(2, 15), s.number(2, 6)
    s.say(f"A school has {a} groups of {b} children each.", f"There are {a} rooms in a school and {b} children in each room.")
    x = s.step("children", a, "*", b)
    s.say(f"On Monday {c} children are sick and the others go to the zoo.", f"The school goes on a trip, and {c} children are sick at home.")
    x = s.step("left", x, "-", c)
    if s.chance(0.5):
        s.say(f"Each child on the trip pays {p} dollars. How much is that in all?", f"A ticket costs {p} dollars. How much do the tickets for the others cost?")
        x = s.step("dollars", x, "*", p)
    else:
        k = divisor(s, x, 2, 30)
        s.say(f"A bus takes {k} of them. How many times does the bus go?", f"They go in {k} equal groups. How many children are in each group?")
        s.step("groups" if "bus" in s.sentences[-1] else "each", x, "/", k)


@template
def needs_and_has(s):
    (n, (he, _, _)), = people(s, 1)
    item = s.rng.choice(ITEMS)
    (box, many) = s.rng.choice(BOXES)
    k, q, r, b = s.number(3, 20), s.number(2, 9), s.number(2, 9), s.number(2, 12)
    s.say(f"How many more {item} does {n} need?", f"How many {item} does {n} still have to buy?")
    s.say_shuffled(s.rng.choice((f"{n} wants to give {q} {item} to each of {k} children.", f"There are {k} children and {n} wants to give each of them {q} {item}.")),
                   s.rng.choice((f"There are {r} {many} of {b} {item} at home.", f"{n} already has {r} {many} with {b} {item} in each {box}.")))
    s.step("more", s.step("total", k, "*", q), "-", s.step(many, r, "*", b))


@template
def pages_of_books(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, p, q = s.number(2, 5), s.number(10, 40), s.number(2, 6), s.number(8, 30)
    s.say_shuffled(f"{n} has {a} old books with {b} pages each.", f"There are also {p} new books of {q} pages each.")
    x = s.step("total", s.step("pages", a, "*", b), "+", s.step("pages", p, "*", q))
    if s.chance(0.5):
        k = divisor(s, x, 3, 30)
        s.say(f"{he.capitalize()} reads {k} pages a day. How many days does {he} need for all of them?", f"How many days is that at {k} pages a day?")
        s.step("days", x, "/", k)
    else:
        c = s.number(5, 80)
        s.say(f"{he.capitalize()} has read {c} of the pages. How many pages are left?", f"After {c} pages {he} goes home. How many pages are left to read?")
        s.step("left", x, "-", c)


@template
def pack_again(s):
    (n, (he, _, _)), = people(s, 1)
    item = s.rng.choice(ITEMS)
    (_, one), (two, twos) = s.rng.sample(BOXES, 2)
    a, b = s.number(2, 15), s.number(2, 20)
    s.say(f"{n} opens {a} {one} with {b} {item} each.", f"There are {b} {item} in each of {a} {one}.", f"A store has {a} {one} of {b} {item}.")
    x = s.step(item, a, "*", b)
    if s.chance(0.5):
        c = s.number(2, 25)
        more = s.chance(0.5)
        if more:
            s.say(f"On the table are {c} more {item}.", f"Then {n} adds {c} {item}.")
        else:
            s.say(f"A child takes {c} of them.", f"Then {c} of them break.")
        x = s.step("total" if more else "left", x, "+" if more else "-", c)
    k = divisor(s, x, 2, 25)
    if s.chance(0.5):
        s.say(f"All of them are put into {twos} of {k}. How many {twos} are there?", f"How many {twos} does {he} need if {k} {item} go into each {two}?")
        x = s.step(twos, x, "/", k)
        if s.chance(0.4):
            p = s.number(2, 9)
            s.sentences[-1] = f"{he.capitalize()} puts {k} {item} into each {two} and sells the {twos} at {p} dollars each. How much money is that?"
            s.step("dollars", x, "*", p)
    else:
        s.say(f"They are put into {k} {twos} equally. How many {item} are in each {two}?", f"How many {item} go into each of {k} {twos} if all {twos} are equal?")
        s.step("each", x, "/", k)


@template
def lost_over_days(s):
    item = s.rng.choice(ITEMS)
    (n, (he, _, _)), = people(s, 1)
    start, c, d = s.number(40, 300), s.number(2, 15), s.number(2, 12)
    done = s.rng.choice(("gives away", "loses", "sells", "eats" if item in ("apples", "cookies", "candies", "oranges", "eggs") else "takes out"))
    if s.chance(0.5):
        s.say(f"Every day {n} {done} {c} {item}.", f"{n} {done} {c} {item} each day.")
        s.say(f"There were {start} {item} before that.", f"{he.capitalize()} starts with {start} {item}.")
    else:
        s.say(f"{n} has {start} {item}.", f"There are {start} {item} in the house of {n}.")
        s.say(f"Every day {he} {done} {c} of them.", f"{he.capitalize()} {done} {c} {item} a day.")
    x = s.step("left", start, "-", s.step("total", c, "*", d))
    s.say(f"How many {item} are left after {d} days?", f"How many {item} does {n} still have {d} days later?")
    if s.chance(0.4):
        e = s.number(2, 50)
        s.sentences[-1] = s.rng.choice((f"After {d} days {he} gets {e} new {item}.", f"This goes on for {d} days. Then {he} buys {e} more {item}."))
        x = s.step(item, x, "+", e)
        if s.chance(0.4) and x % 2 == 0:
            s.say(f"{he.capitalize()} puts half of them into a box. How many {item} are in the box?")
            s.step("each", x, "/", 2)
        else:
            s.say(f"How many {item} does {n} have now?", f"How many {item} are there in the end?")


@template
def zoo_day(s):
    a, d, f = s.number(5, 60), s.number(2, 30), s.number(2, 4)
    place = s.rng.choice(("zoo", "museum", "library", "pool", "show"))
    s.say(f"On Friday {a} people go to the {place}.", f"The {place} opens on Friday and {a} people come.")
    more = s.chance(0.5)
    s.say(f"On Sunday there are {d} {'more' if more else 'fewer'} than on Friday.", f"On Sunday {d} {'more' if more else 'fewer'} people come.")
    b = s.step("people", a, "+" if more else "-", d)
    s.say(f"On Monday {times(s, f)} as many come as on Sunday.", f"On Monday it is {times(s, f)} as many as on Sunday.")
    c = s.step("people", b, "*", f)
    if s.chance(0.5):
        s.say("How many people come on the three days?", "How many people is that in all?")
        s.step("total", s.step("total", a, "+", b), "+", c)
    elif c <= a:
        s.say("How many people come on Monday?")
    else:
        s.say("How many more people come on Monday than on Friday?", "How many fewer people are there on Friday than on Monday?")
        s.step("more", c, "-", a)


@template
def trees_fruit(s):
    (n, (he, _, _)), = people(s, 1)
    item = s.rng.choice(("apples", "oranges", "peaches"))
    a, b, k, c = s.number(2, 12), s.number(4, 25), s.number(2, 12), s.number(2, 30)
    s.say(f"{n} has {a} trees in the garden. Each of them has {b} {item}.", f"In the garden of {n} are {a} trees with {b} {item} on each.", f"{n} gets {b} {item} from each of {a} trees.")
    x = s.step(item, a, "*", b)
    s.say(f"{he.capitalize()} puts {c} of the {item} on the table for the family.", f"A storm takes {c} of them.", f"The children eat {c}.")
    x = s.step("left", x, "-", c)
    box, many = s.rng.choice(BOXES)
    k = divisor(s, x, 2, 15)
    s.say(f"{he.capitalize()} puts the rest into {many}, {k} in each {box}.", f"The others are put into {many} of {k}.")
    x = s.step(many, x, "/", k)
    if s.chance(0.5) and x > 3:
        y = s.number(2, x - 1)
        s.say(f"A neighbor gets {y} of the {many}.", f"{he.capitalize()} gives {y} of the {many} away.")
        s.say(f"How many {many} are left?", f"How many {many} does {n} keep?")
        s.step("left", x, "-", y)
    else:
        s.say(f"How many {many} does {he} need?", f"How many {many} are there in the end?")


@template
def rounds_of_game(s):
    (n, (he, _, _)), = people(s, 1)
    a, b, g, h = s.number(3, 15), s.number(2, 9), s.number(2, 9), s.number(2, 6)
    s.say(f"In a game {n} gets {a} points for each card and loses {b} points for each ball.", f"A card gives {a} points in a game. A ball costs {b} points.")
    s.say(f"{n} has {g} cards and {h} balls.", f"In the end {n} has {h} balls and {g} cards.")
    x = s.step("points", s.step("cards", a, "*", g), "-", s.step("balls", b, "*", h))
    if s.chance(0.5):
        d = s.number(2, 40)
        s.say(f"{he.capitalize()} already had {d} points before that.", f"There are {d} more points for math.")
        x = s.step("points", x, "+", d)
    s.say(f"How many points does {n} have now?", f"How many points is that in all?", f"How many points does {he} get?")


@template
def cards_with_beads(s):
    (n, (he, his, _)), = people(s, 1)
    item = s.rng.choice(("beads", "buttons", "stickers", "stones", "shells"))
    (box, many) = s.rng.choice(BOXES)
    a, q, c, k, b = s.number(2, 12), s.number(3, 20), s.number(2, 40), s.number(2, 12), s.number(2, 9)
    s.say_shuffled(s.rng.choice((f"{n} has {a} {many} with {q} {item} in each {box}.", f"In the room of {n} are {a} {many} of {q} {item}.")),
                   s.rng.choice((f"There are {c} more {item} on the table.", f"In the garden {n} finds {c} {item}.")))
    x = s.step("total", s.step(many, a, "*", q), "+", c)
    s.say(f"For each card {he} needs {b} {item}.", f"It takes {b} {item} to make one card.")
    s.say(f"How many {item} are left after {k} cards?", f"{he.capitalize()} makes {k} cards. How many {item} are left?",
          f"How many {item} does {n} still have after {he} makes {k} cards?")
    s.step("left", x, "-", s.step("cards", k, "*", b))


@template
def pages_for_points(s):
    (n, (he, _, _)), = people(s, 1)
    a, p, d, c = s.number(2, 9), s.number(2, 9), s.number(2, 7), s.number(2, 40)
    s.say(f"{n} gets {p} points for each page of math.", f"Each page of math gives {n} {p} points.")
    s.say(f"{he.capitalize()} does {a} pages a day for {d} days.", f"For {d} days {he} does {a} pages every day.")
    x = s.step("points", s.step("pages", a, "*", d), "*", p)
    s.say(f"On Sunday {he} loses {c} points.", f"Then {he} gives {c} points to a friend.", f"A toy costs {n} {c} of the points.")
    x = s.step("left", x, "-", c)
    if s.chance(0.5):
        goal = x + s.number(3, 60)
        s.say(f"How many more points does {n} need to have {goal} points?", f"A trip costs {goal} points. How many points does {he} still need?")
        s.step("more", goal, "-", x)
    else:
        s.say(f"How many points are left for {n}?", f"How many points does {he} have now?")
