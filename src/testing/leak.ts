/** Detection of a leaked diagnosis name in a text. */
import { type Case, primaryDiagnosis } from '../case.js'

/** Names of a case's primary diagnosis in both languages: name, aliases and codes. */
export function diagnosisNames(truth: Case): readonly string[] {
  const { name, aliases, codes } = primaryDiagnosis(truth.gold)
  const all = [name.zh, name.en, ...aliases, ...codes.map(({ code }) => code)]
  return all.filter((text): text is string => text !== undefined && text !== '')
}

const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{Script=Latin}\p{N}]/u.test(character)

/** Finds the first of `names` that the text contains; Latin names match whole words only. */
export function findName(text: string, names: readonly string[]): string | undefined {
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
