/** Entry point of the build: trains the classifiers of the shipped knowledge base and writes their files. */
import { loadKnowledge } from '../../../knowledge/load.js'
import { finish } from '../../../platform/slices.js'
import { labelledPhrases } from './labelled-phrases.js'
import { buildSimilarityIndex } from './similarity.js'
import { scriptOf, updatesFile, writeUpdates } from './updates-file.js'

/**
 * Writes the files of the classifiers.
 * @param folder of the knowledge base
 */
export function saveUpdates(folder: string): void {
  const knowledge = loadKnowledge(folder)
  for (const language of ['en', 'zh'] as const) {
    const phrases = finish(labelledPhrases(knowledge, language))
    const { updates } = finish(buildSimilarityIndex(phrases, scriptOf[language]))
    finish(writeUpdates(updatesFile(language), phrases, updates))
  }
}
