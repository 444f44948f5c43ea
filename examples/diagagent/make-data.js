/**
 * Makes the patients of the smoke recipe: as many with influenza as with a streptococcal throat. Each of the two needs
 * examinations, and others than the other one; of a disease that needs none, the reward would teach to order nothing.
 *
 *     node examples/diagagent/make-data.js [file] [patients]
 */
const [file = 'diagagent-data/cases.jsonl', patients = '2000'] = process.argv.slice(2)
process.argv = [
  ...process.argv.slice(0, 2),
  ...[file, patients, 'influenza', 'streptococcal-pharyngitis'],
]
await import('../takes-two/make-data.js')
