// The words of the toy model: what may follow what, and which words please. Edit the table, nothing else.
#pragma once

#include <array>
#include <string_view>

namespace pgdlm::toy {

// "left words" -> "right word weight ...". <s> stands before the canvas, </s> behind it and after the last sentence.
struct Follows {
  std::string_view left, right;
};

inline constexpr std::array kFollows = {
    Follows{"<s>", "the 6 this 3 it 2 i 2"},
    Follows{"the", "movie 4 film 3 plot 2 story 2 acting 2 music 1 ending 2"},
    Follows{"this", "movie 4 film 4 story 1"},
    Follows{"it", "was 5 is 4 felt 2 has 2"},
    Follows{"i", "loved 2 enjoyed 2 hated 3"},
    Follows{"loved enjoyed hated", "every 1"},
    Follows{"every", "minute 3 scene 2"},
    Follows{"minute scene", ". 4 and 1 , 1"},
    Follows{"movie film", "was 5 is 4 felt 2 has 2"},
    Follows{"plot story", "was 4 is 4 felt 3 has 1"},
    Follows{"acting music ending", "was 5 is 3 felt 2"},
    Follows{"was is", "a 5 truly 3 very 3 so 2 rather 4 wonderful 1 great 2 boring 2 awful 1 strange 1"},
    Follows{"felt", "truly 2 so 3 rather 4 long 2 moving 1"},
    Follows{"has", "real 2 no 3"},
    Follows{"real no", "heart 3 charm 2"},
    Follows{"heart charm", ". 4 and 2 , 1"},
    Follows{"truly", "wonderful 2 superb 1 moving 2 awful 2 boring 1"},
    Follows{"very", "funny 2 great 1 slow 3 weak 2 long 2 strange 1"},
    Follows{"so", "lovely 2 funny 2 boring 3 silly 2 slow 2"},
    Follows{"rather", "lovely 1 slow 3 weak 3 bland 3 silly 2 strange 2 long 2"},
    Follows{"wonderful great lovely superb moving funny", ". 5 and 3 , 1"},
    Follows{"slow boring awful weak bland silly long strange", ". 5 and 2 , 2"},
    Follows{"a", "charming 2 brilliant 1 clever 2 dull 3 terrible 2 tired 2 delight 1 mess 2"},
    Follows{"charming brilliant clever", "gem 2 delight 2 comedy 3 drama 2"},
    Follows{"dull terrible tired", "mess 3 bore 2 comedy 3 drama 2"},
    Follows{"gem delight comedy drama mess bore", ". 5 and 2 , 1 with 2"},
    Follows{"with", "real 2 no 3"},
    Follows{",", "but 3 and 1"},
    Follows{"and", "the 6 it 3 i 1"},
    Follows{"but", "the 6 it 3 i 2"},
    Follows{".", "</s> 5 the 3 it 2 i 1"},
    Follows{"</s>", "</s> 1"},
};

// What a word adds to the log-odds that a reader finds the text positive.
struct Feeling {
  std::string_view words;
  double weight;
};

inline constexpr std::array kFeelings = {
    Feeling{"wonderful superb brilliant gem", 1.5},   Feeling{"great lovely charming loved delight", 1.2},
    Feeling{"moving funny clever enjoyed real", 0.8}, Feeling{"slow long strange silly no", -0.6},
    Feeling{"weak bland dull tired bore", -1.0},      Feeling{"boring awful terrible mess hated", -1.5},
};

}  // namespace pgdlm::toy
