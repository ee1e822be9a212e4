package demodatatest

import "strings"

// cores are requests that make one lesson apply. {p} is a place, {f} a file.
var cores = map[string][]string{
	"units": {
		"Plot the temperature at {p} from {f}",
		"Show the request latency at {p}, the numbers are in {f}",
		"I need a chart of the energy use of {p} ({f})",
		"Draw monthly rainfall for {p} out of {f}",
		"What did the temperature do at {p} this week? {f} has it",
	},
	"svg": {
		"Chart the opening hours of {p} from {f} for the wiki",
		"Draw visits to {p} ({f}), they belong in the handbook",
		"A chart of build times at {p} for the repository, data in {f}",
		"The wiki page on {p} needs a picture of {f}",
	},
	"zero": {
		"Orders per weekday at {p} as bars, see {f}",
		"Make a bar chart of returns at {p} from {f}",
		"Show the stock of {p} in columns ({f})",
		"Could you turn {f} into bars? It is about parking at {p}",
	},
	"log": {
		"Plot weekly revenue of {p} from {f}",
		"How did the turnover of {p} develop? Use {f}",
		"Chart app downloads at {p} since 2019 ({f})",
		"{f} holds ten years of revenue for {p}, draw it",
		"Show me where turnover at {p} took off, data: {f}",
		"I want the downloads of the {p} app over time, {f}",
	},
	"palette": {
		"Plot headcount at {p} by department ({f})",
		"Orders of {p} by region as an area chart, file {f}",
		"Chart support hours of {p} by team from {f}",
		"Visits to {p} by country, everything is in {f}",
		"Can you show absences at {p} by department? {f}",
		"Draw the tickets that {p} closed by team, {f}",
	},
	"title": {
		"A chart of signups at {p} for the board, from {f}",
		"I need the staff numbers of {p} on my slides ({f})",
		"Summarise {f} in one chart for management, it is about {p}",
		"Investors ask about bookings at {p}; chart {f}",
		"One picture of {f} for the board, they want to know how {p} is doing",
		"My slides on {p} lack a chart of waiting times, take {f}",
	},
	"sort": {
		"Chart the rooms at {p} from {f}: which of them is used most?",
		"Show the biggest cost items of {p} from {f}",
		"A ranking of the suppliers of {p}, from {f}",
		"Draw the top ten pages that visitors of {p} read ({f})",
		"What are the biggest complaints at {p}? Chart {f}",
		"Plot the shops near {p} as a ranking, {f}",
	},
	"source": {
		"Draw the census figures around {p} from {f}",
		"Chart the survey answers about {p} ({f})",
		"Plot the published waiting times of {p}, they are in {f}",
		"I found open data on {p} in {f}, draw it please",
		"{f} is our staff survey at {p}; make it a chart",
		"Turn the census extract for {p} into a figure: {f}",
	},
	"slices": {
		"What share of the orders at {p} comes from each product? {f}",
		"Give me a breakdown of the costs of {p} from {f}",
		"Show the proportions of ticket types at {p} ({f})",
		"How do the eight budgets of {p} share the total? Chart {f}",
		"Draw the breakdown of visitors to {p} by age, {f}",
		"I want to see in what proportions {p} buys materials, {f}",
	},
	"direct": {
		"Compare visits to {p} and its neighbours, several lines in one chart, {f}",
		"Draw planned and actual hours of {p} against each other ({f})",
		"Put the queue times of {p} side by side for all weekdays, see {f}",
		"Plot this year versus last year for {p} from {f}",
		"I need several lines for {p}, one a product, from {f}",
		"Show walk-ins versus bookings at {p}, {f}",
	},
	"gaps": {
		"Plot the sensor in {p} from {f}",
		"Chart {f}: there are missing weeks for {p}",
		"Show the meter readings of {p} from {f}",
		"The sensor at {p} dropped out now and then, draw {f} anyway",
		"I copied the meter readings for {p} into {f}, make a line of them",
		"Draw footfall at {p} with the missing weeks that {f} has",
	},
	"events": {
		"Show error counts of {p} around the outage ({f})",
		"How did visits to {p} change after the launch? Draw {f}",
		"Plot open tickets of {p} through the incident in {f}",
		"Chart response times at {p} before and after the migration, {f}",
		"When did {p} recover from the outage? Use {f}",
		"Did the launch help {p}? A line from {f} please",
	},
}

// addons make a second lesson apply.
var addons = map[string][]string{
	"svg":     {", it goes into the wiki", ", and I will commit it to the repository", " (the handbook links to it)"},
	"zero":    {", as a bar chart", ", in bars", ", columns please"},
	"palette": {", coloured by region", ", split by team", ", by country"},
	"title":   {" for the board meeting", ", it is for my slides", ". Management reads it"},
	"sort":    {", and make the ranking plain", ", biggest at the top"},
	"direct":  {", last year versus this year", ", both sites against each other"},
	"events":  {" with the week of the outage in it", ", including the migration"},
}

// places fill {p}; each has a file of its own.
var places = strings.Split(`the harbour office|the Lisbon branch|the north depot|the old bakery|the Kyoto shop|
the city library|the swimming hall|the repair desk|the tram line|the botanic garden|the airport lounge|
the print works|the music school|the night market|the ferry|the wind farm|the vet clinic|the puppet theatre|
the chess club|the flower stall|the Oslo warehouse|the ice rink|the radio station|the food bank|
the bicycle rental|the planetarium|the fish auction|the climbing gym|the wood workshop|the mountain hut|
the toy museum|the county court|the blood bank|the sailing club|the tea house|the recycling yard|
the cinema|the campsite|the call centre|the cheese dairy`, "|")

// How people write that something is not what they asked for. The lesson's
// own words are in the middle.
var corrections = []string{
	"no, {s}",
	"No. {s}, please.",
	"that's not right, {s}",
	"not what I asked for: {s}",
	"no, {s} and draw it again",
	"wrong again. {s}",
	"please redo it: {s}",
	"hmm, no: {s}, as last time",
	"not quite: {s}",
}

var thanks = []string{
	"thanks, perfect", "great, thank you", "looks good, thanks!", "perfect, that's it", "nice, exactly what I wanted",
	"yes, that works, thanks", "thank you, this is great", "excellent, thanks",
}
