import { test } from 'vitest'
import { understand } from '../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../src/knowledge/load.js'
test('x', () => { for (const t of ['Does the headache get worse when you cough or bend over?', '中国的首都是哪里？']) console.log(JSON.stringify(understand(loadKnowledge(), t))) })
