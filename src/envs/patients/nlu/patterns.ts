/**
 * The long patterns of understanding. An engine compiles a pattern when it is first used, for each kind of string: up to
 * 15 ms each, and 70 ms for the first question that needs them all.
 */
import type { SlicedWork } from '../../../platform/slices.js'
import type { Language } from '../../../turn.js'
import * as acts from './acts.js'
import { isGeneric, isPersonal, looseAttribute } from './attributes.js'
import { classifySpeech } from './conversation.js'
import { expandPairs, removeDisfluencies } from './disfluency.js'
import {
  checksDuration,
  introduces,
  leadsUp,
  putsAside,
  seeksAgreement,
} from './english/spoken-turns.js'
import { namesRegion } from './follow-ups/regions.js'

const readings: readonly ((text: string) => unknown)[] = [
  ...Object.values(acts).map((act) =>
    act instanceof RegExp ? (text: string) => text.search(act) : act,
  ),
  ...[isGeneric, isPersonal, looseAttribute, introduces, leadsUp, namesRegion],
  ...[checksDuration, putsAside],
  ...[expandPairs, removeDisfluencies],
  (text) => classifySpeech(text, []),
  (text) => seeksAgreement([text]),
]

const samples = { en: 'it', zh: '它' } as const satisfies { [language in Language]: string }

/** Makes the engine compile the patterns for texts in one language. */
export function* compilePatterns(language: Language): SlicedWork<true> {
  for (const read of readings) {
    yield
    // Twice: the engine compiles a pattern further when it is used again.
    read(samples[language])
    read(samples[language])
  }
  return true
}
