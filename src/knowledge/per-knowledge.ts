/** Memoisation per knowledge base, for indices and tables that live as long as their knowledge base. */
import { memoizeByIdentity } from '../platform/memoize.js'
import type { Knowledge } from './knowledge.js'

/** Memoises a function of a knowledge base: `make` runs once for each one and must be pure. */
export const perKnowledge: <T>(make: (knowledge: Knowledge) => T) => (knowledge: Knowledge) => T =
  memoizeByIdentity
