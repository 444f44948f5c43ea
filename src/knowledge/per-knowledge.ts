/** Memoisation per knowledge base: an index or a table is built once and lives as long as its knowledge base. */
import { memoizeByIdentity } from '../platform/memoize.js'
import type { Knowledge } from './knowledge.js'

/** A function of a knowledge base whose result is computed once for each knowledge base. `make` must be pure. */
export const perKnowledge: <T>(make: (knowledge: Knowledge) => T) => (knowledge: Knowledge) => T =
  memoizeByIdentity
