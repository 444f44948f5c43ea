/**
 * Megabytes of a half of the young generation of the garbage collector that serves. What a consultation holds lives for
 * seconds; with V8's 16 it grows old, and the marking of the old (60 ms in which steps are slow) comes every two seconds
 * at 512 sessions: the slowest hundredth of the steps took 2.2 to 2.7 times the median, with 64 it is 1.5 to 1.8
 * on a quiet machine. With 128 the collection of the young takes too long itself.
 */
export const semiSpaceMb = 64
