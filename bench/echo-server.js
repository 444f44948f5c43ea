/**
 * This package's server with an env that only echoes, beside `openenv-echo.py`: what remains is the wire. It prints its
 * address and ends with its standard input.
 */
import { spoken } from '../dist/exports/agents.js'
import { caseSource } from '../dist/exports/cases.js'
import { consultation } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { startServer } from '../dist/exports/server.js'

const truth = caseSource(loadKnowledge(), { tier: 'easy' })(0)
const patient = (text) => ({ text, understood: 'courtesy', questions: 0, asked: [], told: [] })
const open = async ({ seed = 0 }) => {
  const env = consultation({ cases: [truth], patient, grammar: spoken(), maxTurns: 20 })
  return { env, truth, seed }
}
const server = await startServer({ consultations: { open, count: () => 1 }, most: 8192 })
console.log(JSON.stringify({ address: server.address }))
process.stdin.on('end', () => server.close()).resume()
