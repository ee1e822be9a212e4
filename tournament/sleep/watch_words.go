package sleep

// TakenBack is how the note of an alarm ends whose version was rolled back.
const TakenBack = "was taken back"
