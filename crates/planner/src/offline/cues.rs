//! Words of general English that say what to do with the words around them.

use domain::plan::{AggregateFn, DateUnit, Direction, Operator};
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cue {
    /// "how many", "number of": a count.
    Count,
    /// "how much": a sum.
    HowMuch,
    /// "how long": a duration, of which the question does not say which figure.
    HowLong,
    Aggregate(AggregateFn),
    /// "which", "what", "who": the noun that follows is asked for.
    Which,
    /// "show", "list": what follows is asked for.
    Show,
    /// "whose", "that", "where", "with": what follows limits the noun before.
    Clause,
    Compare(Operator),
    Between,
    /// "or more", behind a number.
    OrBeyond(Operator),
    /// "all information": every column of the rows.
    Whole,
    /// "highest", "most": the end of an order; true where it may count things ("most orders").
    Extreme(Direction, bool),
    /// "latest", "first": the end of an order in time.
    ExtremeInTime(Direction),
    /// "most common": by how often it occurs.
    Common(Direction),
    Top(Direction),
    /// "per", "for each".
    Each,
    By,
    OrderBy,
    Sorted(Direction),
    /// "sorted", "arranged": an order follows.
    Arranged,
    /// "alphabetical": sorted by what is shown.
    Alphabetical,
    Distinct,
    Not,
    Without,
    Both,
    And,
    Or,
    Comma,
    Of,
    /// "in", "for", "on": ties what follows to what came before.
    In,
    From,
    Is,
    Bucket(DateUnit),
    Trend,
    Contains,
    StartsWith,
    EndsWith,
    /// "and", "what about", "only": goes on from the question before.
    Continue,
    Instead,
    Also,
    /// "percentage of": what follows is a part and the whole that it is a part of.
    Share,
    /// "by how many percent": a change is asked for in percent.
    Percent,
    /// "grow", "change": from one period to another.
    Change,
    /// "compare", "versus": one figure for each of the values named.
    Compared,
    /// A word that turns a question into one that rows can't answer.
    Beyond,
}

use AggregateFn::{Avg, Max, Median, Min, Sum};
use Direction::{Asc, Desc};
use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};

#[rustfmt::skip]
const PHRASES: &[(&str, Cue)] = &[
    ("how many", Cue::Count), ("number of", Cue::Count), ("count of", Cue::Count), ("count", Cue::Count),
    ("total number of", Cue::Count), ("total count of", Cue::Count), ("the number of", Cue::Count),
    ("how many times", Cue::Count), ("how often", Cue::Count),
    ("how much", Cue::HowMuch), ("how long", Cue::HowLong),
    ("average", Cue::Aggregate(Avg)), ("avg", Cue::Aggregate(Avg)), ("mean", Cue::Aggregate(Avg)),
    ("on average", Cue::Aggregate(Avg)), ("averaged", Cue::Aggregate(Avg)),
    ("total", Cue::Aggregate(Sum)), ("sum", Cue::Aggregate(Sum)), ("sum of", Cue::Aggregate(Sum)),
    ("totals", Cue::Aggregate(Sum)), ("overall", Cue::Aggregate(Sum)), ("combined", Cue::Aggregate(Sum)),
    ("median", Cue::Aggregate(Median)),
    ("maximum", Cue::Aggregate(Max)), ("max", Cue::Aggregate(Max)),
    ("minimum", Cue::Aggregate(Min)), ("min", Cue::Aggregate(Min)),
    ("which", Cue::Which), ("what", Cue::Which), ("who", Cue::Which), ("whom", Cue::Which),
    ("when", Cue::Which), ("where", Cue::Clause),
    ("show", Cue::Show), ("list", Cue::Show), ("find", Cue::Show), ("give", Cue::Show), ("return", Cue::Show),
    ("display", Cue::Show), ("tell", Cue::Show), ("get", Cue::Show), ("select", Cue::Show), ("report", Cue::Show),
    ("compute", Cue::Show), ("calculate", Cue::Show), ("provide", Cue::Show), ("retrieve", Cue::Show),
    ("whose", Cue::Clause), ("that", Cue::Clause), ("with", Cue::Clause), ("having", Cue::Clause),
    ("more than", Cue::Compare(Greater)), ("greater than", Cue::Compare(Greater)), ("larger than", Cue::Compare(Greater)),
    ("higher than", Cue::Compare(Greater)), ("above", Cue::Compare(Greater)), ("over", Cue::Compare(Greater)),
    ("bigger than", Cue::Compare(Greater)), ("exceeding", Cue::Compare(Greater)), ("exceeds", Cue::Compare(Greater)),
    ("exceed", Cue::Compare(Greater)), ("exceeded", Cue::Compare(Greater)), ("beyond", Cue::Compare(Greater)),
    ("is over", Cue::Compare(Greater)), ("greater", Cue::Compare(Greater)),
    ("at least", Cue::Compare(GreaterOrEqual)), ("no less than", Cue::Compare(GreaterOrEqual)),
    ("not less than", Cue::Compare(GreaterOrEqual)), ("no fewer than", Cue::Compare(GreaterOrEqual)),
    ("greater than or equal to", Cue::Compare(GreaterOrEqual)), ("minimum of", Cue::Compare(GreaterOrEqual)),
    ("less than", Cue::Compare(Less)), ("fewer than", Cue::Compare(Less)), ("lower than", Cue::Compare(Less)),
    ("smaller than", Cue::Compare(Less)), ("below", Cue::Compare(Less)), ("under", Cue::Compare(Less)),
    ("shorter than", Cue::Compare(Less)),
    ("at most", Cue::Compare(LessOrEqual)), ("no more than", Cue::Compare(LessOrEqual)), ("up to", Cue::Compare(LessOrEqual)),
    ("not more than", Cue::Compare(LessOrEqual)), ("less than or equal to", Cue::Compare(LessOrEqual)),
    ("equal to", Cue::Compare(Operator::Equal)), ("equals", Cue::Compare(Operator::Equal)),
    ("exactly", Cue::Compare(Operator::Equal)), ("equal", Cue::Compare(Operator::Equal)),
    ("or more", Cue::OrBeyond(GreaterOrEqual)), ("or above", Cue::OrBeyond(GreaterOrEqual)), ("or higher", Cue::OrBeyond(GreaterOrEqual)),
    ("or over", Cue::OrBeyond(GreaterOrEqual)), ("or less", Cue::OrBeyond(LessOrEqual)), ("or fewer", Cue::OrBeyond(LessOrEqual)),
    ("or below", Cue::OrBeyond(LessOrEqual)), ("or lower", Cue::OrBeyond(LessOrEqual)),
    ("or older", Cue::OrBeyond(GreaterOrEqual)), ("or greater", Cue::OrBeyond(GreaterOrEqual)), ("or larger", Cue::OrBeyond(GreaterOrEqual)),
    ("or longer", Cue::OrBeyond(GreaterOrEqual)), ("or younger", Cue::OrBeyond(LessOrEqual)), ("or smaller", Cue::OrBeyond(LessOrEqual)),
    ("or shorter", Cue::OrBeyond(LessOrEqual)),
    ("more than or equal to", Cue::Compare(GreaterOrEqual)), ("higher than or equal to", Cue::Compare(GreaterOrEqual)),
    ("larger than or equal to", Cue::Compare(GreaterOrEqual)), ("bigger than or equal to", Cue::Compare(GreaterOrEqual)),
    ("lower than or equal to", Cue::Compare(LessOrEqual)), ("smaller than or equal to", Cue::Compare(LessOrEqual)),
    ("fewer than or equal to", Cue::Compare(LessOrEqual)),
    ("number of different", Cue::Count), ("the numbers of", Cue::Count), ("the total number of", Cue::Count),
    ("the most number of", Cue::Extreme(Desc, true)), ("the largest number of", Cue::Extreme(Desc, true)), ("the highest number of", Cue::Extreme(Desc, true)),
    ("the greatest number of", Cue::Extreme(Desc, true)), ("the maximum number of", Cue::Extreme(Desc, true)), ("the most amount of", Cue::Extreme(Desc, true)),
    ("the least number of", Cue::Extreme(Asc, true)), ("the smallest number of", Cue::Extreme(Asc, true)), ("the lowest number of", Cue::Extreme(Asc, true)),
    ("the fewest number of", Cue::Extreme(Asc, true)), ("the fewest", Cue::Extreme(Asc, true)), ("the minimum number of", Cue::Extreme(Asc, true)),
    ("among", Cue::In), ("amongst", Cue::In), ("out of", Cue::Of),
    ("in different", Cue::Each), ("across different", Cue::Each), ("from large to small", Cue::Sorted(Desc)), ("from small to large", Cue::Sorted(Asc)),
    ("most used", Cue::Common(Desc)), ("least used", Cue::Common(Asc)), ("most frequently used", Cue::Common(Desc)), ("most commonly used", Cue::Common(Desc)),
    ("most often used", Cue::Common(Desc)), ("the most common", Cue::Common(Desc)), ("the most popular", Cue::Common(Desc)),
    ("him or her", Cue::In), ("his or her", Cue::In), ("he or she", Cue::In), ("from least to greatest", Cue::Sorted(Asc)),
    ("from greatest to least", Cue::Sorted(Desc)), ("from low to high", Cue::Sorted(Asc)), ("from highest to lowest", Cue::Sorted(Desc)),
    (">", Cue::Compare(Greater)), (">=", Cue::Compare(GreaterOrEqual)), ("<", Cue::Compare(Less)), ("<=", Cue::Compare(LessOrEqual)),
    ("=", Cue::Compare(Operator::Equal)), ("==", Cue::Compare(Operator::Equal)), ("!=", Cue::Not), ("<>", Cue::Not),
    ("all information", Cue::Whole), ("all the information", Cue::Whole), ("information", Cue::Whole), ("everything", Cue::Whole),
    ("all columns", Cue::Whole), ("all fields", Cue::Whole), ("all details", Cue::Whole), ("all the details", Cue::Whole),
    ("all attributes", Cue::Whole), ("full details", Cue::Whole), ("complete information", Cue::Whole), ("all info", Cue::Whole), ("info", Cue::Whole),
    ("most common", Cue::Common(Desc)), ("most frequent", Cue::Common(Desc)), ("most popular", Cue::Common(Desc)),
    ("most frequently", Cue::Common(Desc)), ("most commonly", Cue::Common(Desc)), ("least common", Cue::Common(Asc)),
    ("least popular", Cue::Common(Asc)), ("most often", Cue::Common(Desc)), ("least frequent", Cue::Common(Asc)),
    ("between", Cue::Between), ("ranging from", Cue::Between),
    ("highest", Cue::Extreme(Desc, false)), ("largest", Cue::Extreme(Desc, false)), ("biggest", Cue::Extreme(Desc, false)),
    ("greatest", Cue::Extreme(Desc, true)), ("most", Cue::Extreme(Desc, true)), ("the most", Cue::Extreme(Desc, true)),
    ("highest number of", Cue::Extreme(Desc, true)), ("largest number of", Cue::Extreme(Desc, true)),
    ("greatest number of", Cue::Extreme(Desc, true)), ("maximum number of", Cue::Extreme(Desc, true)),
    ("most number of", Cue::Extreme(Desc, true)), ("biggest number of", Cue::Extreme(Desc, true)),
    ("lowest", Cue::Extreme(Asc, false)), ("smallest", Cue::Extreme(Asc, false)), ("least", Cue::Extreme(Asc, true)),
    ("fewest", Cue::Extreme(Asc, true)), ("the least", Cue::Extreme(Asc, true)),
    ("lowest number of", Cue::Extreme(Asc, true)), ("smallest number of", Cue::Extreme(Asc, true)),
    ("least number of", Cue::Extreme(Asc, true)), ("minimum number of", Cue::Extreme(Asc, true)),
    ("fewest number of", Cue::Extreme(Asc, true)),
    ("latest", Cue::ExtremeInTime(Desc)), ("newest", Cue::ExtremeInTime(Desc)), ("most recent", Cue::ExtremeInTime(Desc)),
    ("most recently", Cue::ExtremeInTime(Desc)), ("earliest", Cue::ExtremeInTime(Asc)),
    ("top", Cue::Top(Desc)), ("best", Cue::Top(Desc)), ("worst", Cue::Top(Asc)), ("bottom", Cue::Top(Asc)), ("first", Cue::Top(Desc)),
    ("per", Cue::Each), ("each", Cue::Each), ("every", Cue::Each), ("for each", Cue::Each), ("for every", Cue::Each),
    ("in each", Cue::Each), ("of each", Cue::Each), ("by each", Cue::Each), ("from each", Cue::Each), ("on each", Cue::Each),
    ("at each", Cue::Each), ("within each", Cue::Each), ("for all", Cue::In),
    ("grouped by", Cue::Each), ("group by", Cue::Each), ("broken down by", Cue::Each), ("split by", Cue::Each),
    ("across", Cue::Each), ("across all", Cue::In), ("for different", Cue::Each), ("for each of the", Cue::Each),
    ("broken out by", Cue::Each), ("break down by", Cue::Each), ("breakdown by", Cue::Each), ("breakdown of", Cue::Of),
    ("by", Cue::By),
    ("order by", Cue::OrderBy), ("ordered by", Cue::OrderBy), ("sort by", Cue::OrderBy), ("sorted by", Cue::OrderBy),
    ("ranked by", Cue::OrderBy), ("rank by", Cue::OrderBy), ("in order of", Cue::OrderBy), ("sort them by", Cue::OrderBy),
    ("sorted in order of", Cue::OrderBy), ("ordered in order of", Cue::OrderBy), ("order them by", Cue::OrderBy),
    ("in the order of", Cue::OrderBy), ("listed by", Cue::OrderBy), ("sort the list by", Cue::OrderBy),
    ("sorted", Cue::Arranged), ("sort", Cue::Arranged), ("sort them", Cue::Arranged), ("arranged", Cue::Arranged), ("listed", Cue::Arranged),
    ("ordered", Cue::Arranged), ("sort the results", Cue::Arranged), ("sort the names", Cue::Arranged), ("order the results", Cue::Arranged),
    ("order the result", Cue::Arranged),
    ("descending", Cue::Sorted(Desc)), ("desc", Cue::Sorted(Desc)), ("largest first", Cue::Sorted(Desc)),
    ("highest first", Cue::Sorted(Desc)), ("most recent first", Cue::Sorted(Desc)), ("newest first", Cue::Sorted(Desc)),
    ("from highest to lowest", Cue::Sorted(Desc)), ("from high to low", Cue::Sorted(Desc)), ("from largest to smallest", Cue::Sorted(Desc)),
    ("from most to least", Cue::Sorted(Desc)), ("biggest first", Cue::Sorted(Desc)), ("decreasing", Cue::Sorted(Desc)),
    ("in descending order", Cue::Sorted(Desc)), ("descending order", Cue::Sorted(Desc)), ("in decreasing order", Cue::Sorted(Desc)),
    ("in desc order", Cue::Sorted(Desc)), ("in a descending order", Cue::Sorted(Desc)), ("in reverse order", Cue::Sorted(Desc)),
    ("ascending", Cue::Sorted(Asc)), ("asc", Cue::Sorted(Asc)), ("smallest first", Cue::Sorted(Asc)), ("lowest first", Cue::Sorted(Asc)),
    ("strongest", Cue::Extreme(Desc, false)), ("weakest", Cue::Extreme(Asc, false)),
    ("from lowest to highest", Cue::Sorted(Asc)), ("from low to high", Cue::Sorted(Asc)), ("from smallest to largest", Cue::Sorted(Asc)),
    ("oldest first", Cue::Sorted(Asc)), ("increasing", Cue::Sorted(Asc)), ("in ascending order", Cue::Sorted(Asc)),
    ("ascending order", Cue::Sorted(Asc)), ("in increasing order", Cue::Sorted(Asc)), ("in an ascending order", Cue::Sorted(Asc)),
    ("from least to most", Cue::Sorted(Asc)), ("in asc order", Cue::Sorted(Asc)),
    ("alphabetically", Cue::Alphabetical), ("in alphabetical order", Cue::Alphabetical), ("alphabetical order", Cue::Alphabetical),
    ("in ascending alphabetical order", Cue::Alphabetical), ("in alphabetic order", Cue::Alphabetical), ("alphabetical", Cue::Alphabetical),
    ("in lexicographical order", Cue::Alphabetical), ("lexicographical order", Cue::Alphabetical),
    ("different", Cue::Distinct), ("distinct", Cue::Distinct), ("unique", Cue::Distinct),
    ("not", Cue::Not), ("isn't", Cue::Not), ("aren't", Cue::Not), ("excluding", Cue::Not), ("except", Cue::Not),
    ("other than", Cue::Not), ("except for", Cue::Not), ("wasn't", Cue::Not), ("weren't", Cue::Not), ("exclude", Cue::Not),
    ("is not", Cue::Not), ("are not", Cue::Not), ("was not", Cue::Not), ("were not", Cue::Not), ("apart from", Cue::Not), ("outside", Cue::Not), ("outside of", Cue::Not),
    ("without", Cue::Without), ("without any", Cue::Without), ("with no", Cue::Without), ("have no", Cue::Without), ("has no", Cue::Without),
    ("never", Cue::Without), ("have never", Cue::Without), ("has never", Cue::Without), ("had no", Cue::Without),
    ("do not have", Cue::Without), ("do not have any", Cue::Without), ("does not have", Cue::Without), ("does not have any", Cue::Without),
    ("don't have", Cue::Without), ("don't have any", Cue::Without), ("doesn't have", Cue::Without), ("doesn't have any", Cue::Without),
    ("did not", Cue::Without), ("didn't", Cue::Without), ("have not", Cue::Without), ("has not", Cue::Without), ("haven't", Cue::Without),
    ("hasn't", Cue::Without), ("do not", Cue::Without), ("does not", Cue::Without), ("don't", Cue::Without), ("doesn't", Cue::Without),
    ("did not have", Cue::Without), ("did not have any", Cue::Without), ("not have any", Cue::Without), ("not have", Cue::Without),
    ("have not had", Cue::Without), ("not any", Cue::Without), ("lacking", Cue::Without), ("missing", Cue::Without),
    ("both", Cue::Both), ("and", Cue::And), ("as well as", Cue::And), ("along with", Cue::And), ("plus", Cue::And),
    ("together with", Cue::And), ("or", Cue::Or), ("either", Cue::In), ("in total", Cue::In), ("in all", Cue::In), (",", Cue::Comma), ("of", Cue::Of),
    ("in", Cue::In), ("through", Cue::In), ("via", Cue::In), ("for", Cue::In), ("on", Cue::In), ("at", Cue::In), ("during", Cue::In), ("within", Cue::In),
    ("from", Cue::From), ("is", Cue::Is), ("are", Cue::Is), ("was", Cue::Is), ("were", Cue::Is), ("be", Cue::Is), ("as", Cue::Is),
    ("monthly", Cue::Bucket(DateUnit::Month)), ("month over month", Cue::Bucket(DateUnit::Month)),
    ("month on month", Cue::Bucket(DateUnit::Month)), ("month to month", Cue::Bucket(DateUnit::Month)),
    ("from month to month", Cue::Bucket(DateUnit::Month)), ("from one month to the next", Cue::Bucket(DateUnit::Month)),
    ("year over year", Cue::Bucket(DateUnit::Year)), ("year on year", Cue::Bucket(DateUnit::Year)), ("year to year", Cue::Bucket(DateUnit::Year)),
    ("from year to year", Cue::Bucket(DateUnit::Year)), ("from one year to the next", Cue::Bucket(DateUnit::Year)),
    ("quarter over quarter", Cue::Bucket(DateUnit::Quarter)), ("quarter on quarter", Cue::Bucket(DateUnit::Quarter)),
    ("from quarter to quarter", Cue::Bucket(DateUnit::Quarter)), ("from one quarter to the next", Cue::Bucket(DateUnit::Quarter)),
    ("week over week", Cue::Bucket(DateUnit::Week)), ("from week to week", Cue::Bucket(DateUnit::Week)), ("from one week to the next", Cue::Bucket(DateUnit::Week)),
    ("day over day", Cue::Bucket(DateUnit::Day)), ("from day to day", Cue::Bucket(DateUnit::Day)), ("from one day to the next", Cue::Bucket(DateUnit::Day)),
    ("daily", Cue::Bucket(DateUnit::Day)), ("weekly", Cue::Bucket(DateUnit::Week)), ("hourly", Cue::Bucket(DateUnit::Hour)),
    ("quarterly", Cue::Bucket(DateUnit::Quarter)), ("yearly", Cue::Bucket(DateUnit::Year)),
    ("annual", Cue::Bucket(DateUnit::Year)), ("annually", Cue::Bucket(DateUnit::Year)),
    ("month by month", Cue::Bucket(DateUnit::Month)), ("year by year", Cue::Bucket(DateUnit::Year)),
    ("day by day", Cue::Bucket(DateUnit::Day)), ("week by week", Cue::Bucket(DateUnit::Week)),
    ("trend", Cue::Trend), ("trends", Cue::Trend), ("over time", Cue::Trend), ("trend of", Cue::Trend), ("evolution of", Cue::Trend),
    ("evolve over time", Cue::Trend), ("change over time", Cue::Trend), ("changed over time", Cue::Trend), ("develop over time", Cue::Trend),
    ("containing", Cue::Contains), ("contains", Cue::Contains), ("contain", Cue::Contains), ("including the word", Cue::Contains),
    ("containing the word", Cue::Contains), ("contains the word", Cue::Contains), ("containing the letter", Cue::Contains),
    ("contain the word", Cue::Contains), ("contains the letter", Cue::Contains), ("contain the letter", Cue::Contains),
    ("with the substring", Cue::Contains), ("containing the string", Cue::Contains),
    ("starting with", Cue::StartsWith), ("starts with", Cue::StartsWith), ("start with", Cue::StartsWith), ("begins with", Cue::StartsWith),
    ("beginning with", Cue::StartsWith), ("starting with the letter", Cue::StartsWith), ("starts with the letter", Cue::StartsWith),
    ("start with the letter", Cue::StartsWith), ("started with", Cue::StartsWith),
    ("ending with", Cue::EndsWith), ("ends with", Cue::EndsWith), ("ends in", Cue::EndsWith), ("end with", Cue::EndsWith),
    ("what about", Cue::Continue), ("how about", Cue::Continue), ("only", Cue::Continue), ("now", Cue::Continue), ("just", Cue::Continue),
    ("but", Cue::Continue), ("same", Cue::Continue), ("the same", Cue::Continue), ("and what about", Cue::Continue),
    ("and now", Cue::Continue), ("and only", Cue::Continue), ("but only", Cue::Continue), ("make it", Cue::Continue),
    ("instead", Cue::Instead), ("instead of", Cue::Beyond), ("also", Cue::Also), ("as well", Cue::Also), ("too", Cue::Also),
    ("why", Cue::Beyond), ("how come", Cue::Beyond), ("forecast", Cue::Beyond), ("predict", Cue::Beyond), ("prediction", Cue::Beyond),
    ("recommend", Cue::Beyond), ("should", Cue::Beyond), ("correlation", Cue::Beyond), ("correlate", Cue::Beyond), ("cause", Cue::Beyond),
    ("reason", Cue::Beyond), ("next year", Cue::Beyond), ("next month", Cue::Beyond), ("next quarter", Cue::Beyond), ("next week", Cue::Beyond),
    ("tomorrow", Cue::Beyond), 
    ("percentage of", Cue::Share), ("percentages of", Cue::Share), ("percent of", Cue::Share), ("share of", Cue::Share), ("% of", Cue::Share),
    ("proportion of", Cue::Share), ("fraction of", Cue::Share), ("share", Cue::Beyond), ("ratio", Cue::Beyond), ("proportion", Cue::Beyond),
    ("percentage", Cue::Percent), ("percent", Cue::Percent), ("by how many percent", Cue::Percent), ("how many percent", Cue::Percent),
    ("by what percentage", Cue::Percent), ("by which percentage", Cue::Percent), ("by how much", Cue::HowMuch),
    ("grow up", Cue::In), ("grew up", Cue::In), ("grow", Cue::Change), ("grew", Cue::Change), ("grown", Cue::Change), ("growth", Cue::Change), ("growth of", Cue::Change), ("growth in", Cue::Change),
    ("increase", Cue::Change), ("increased", Cue::Change), ("increase in", Cue::Change), ("decrease", Cue::Change), ("decreased", Cue::Change),
    ("change", Cue::Change), ("changed", Cue::Change), ("change in", Cue::Change), ("change of", Cue::Change), ("increase of", Cue::Change), ("decline in", Cue::Change), ("decline", Cue::Change), ("declined", Cue::Change),
    ("compare", Cue::Compared), ("compared to", Cue::Compared), ("compared with", Cue::Compared), ("versus", Cue::Compared), ("vs", Cue::Compared),
    ("vs.", Cue::Compared), ("difference", Cue::Beyond), ("difference between", Cue::Beyond),
    ("neither", Cue::Beyond), ("second", Cue::Beyond), ("third", Cue::Beyond), ("last", Cue::Beyond), ("running total", Cue::Beyond),
    ("cumulative", Cue::Beyond), ("previous", Cue::Beyond), ("delete", Cue::Beyond), ("drop", Cue::Beyond), ("update", Cue::Beyond),
    ("insert", Cue::Beyond), ("remove", Cue::Beyond),
];

/// What a longer word says if one letter of it is wrong and only one of ours is meant.
pub(crate) fn misspelt(lower: &str) -> Option<Cue> {
    let near = |phrase: &str| {
        !phrase.contains(' ')
            && phrase.len() >= 6
            && phrase.chars().next() == lower.chars().next()
            && strsim::osa_distance(phrase, lower) == 1
    };
    let mut found = PHRASES.iter().filter(|(phrase, _)| near(phrase));
    found.next().filter(|_| found.next().is_none()).map(|(_, cue)| *cue)
}

/// The longest phrase, in words.
pub(crate) const MAX_WORDS: usize = 6;

/// What a phrase of lowercase words says, if it is one of ours.
pub(crate) fn lookup(phrase: &str) -> Option<Cue> {
    static BY_PHRASE: LazyLock<HashMap<&str, Cue>> = LazyLock::new(|| PHRASES.iter().copied().collect());
    BY_PHRASE.get(phrase).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_cue_is_known_with_one_letter_wrong() {
        assert_eq!(misspelt("avrage"), lookup("average"));
        assert_eq!(misspelt("hihgest"), lookup("highest"));
        for other in ["sun", "region", "averages of"] {
            assert_eq!(misspelt(other), None, "{other}");
        }
    }
}
