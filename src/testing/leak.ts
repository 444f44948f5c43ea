/** Whether a text names a diagnosis that its reader must not know. */
import type { Case } from '../case.js'
import { primary } from '../case.js'

/** The names of a case's primary diagnosis in both languages: its name, its aliases and its codes. */
export function diagnosisNames(truth: Case): readonly string[] {
  const { name, aliases, codes } = primary(truth.gold)
  const all = [name.zh, name.en, ...aliases, ...codes.map(({ code }) => code)]
  return all.filter((text): text is string => text !== undefined && text !== '')
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{Script=Latin}\p{N}]/u.test(character)

/** The first of `names` that stands in the text; Latin names count as whole words only. */
export function namedIn(text: string, names: readonly string[]): string | undefined {
  const folded = fold(text)
  return names.find((name) => {
    const wanted = fold(name)
    for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + 1)) {
      const inWord =
        (isWordCharacter(wanted[0]) && isWordCharacter(folded[at - 1])) ||
        (isWordCharacter(wanted.at(-1)) && isWordCharacter(folded[at + wanted.length]))
      if (!inWord) return true
    }
    return false
  })
}
