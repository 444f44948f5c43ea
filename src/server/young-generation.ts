/**
 * Megabytes of a half of the young generation of the garbage collector that serves. What a consultation holds lives for
 * seconds; with V8's 16 it grows old, and the marking of the old (60 ms in which steps are slow) comes every two seconds
 * at 512 sessions: the slowest hundredth of the steps took 2.2 times the median, with 64 it is 1.6.
 */
export const semiSpaceMb = 64
