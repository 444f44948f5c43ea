import { expect, test } from 'vitest'
import { siblingNotes } from '../../../src/runs/models/sibling-notes.js'

test.each([
  [{}, []],
  [{ patient: 'rule', exams: ['record', 'knowledge'], own: ['reward', 'agents'] }, []],
  [{ patient: 'skin', exams: ['record', 'diaggym'] }, []],
  [{ patient: './mine.mjs' }, [/^the patient is of your own/]],
  [{ patient: 'a-registered-name' }, [/^the patient is of your own/]],
  [{ exams: ['record', './lab.mjs'] }, [/^an exam simulator is of your own/]],
  [{ own: ['env', 'patient', 'exams'] }, [/^the env/, /^the patient/, /^an exam simulator/]],
  [{ exams: ['diaggym-parity'] }, [/^diaggym-parity/]],
])('says who cannot promise that siblings hear the same: %j', (players, notes) => {
  expect(siblingNotes(players)).toEqual(notes.map((note) => expect.stringMatching(note)))
})
