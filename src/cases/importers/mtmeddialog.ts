/**
 * Importer of MTMedDialog, translated online consultations, in every format it is passed on in (`mtmeddialog-rows.ts`).
 * The rows of one consultation become one case, and its recorded exchanges the findings that a record patient can report.
 *
 * The model-written `enhanced_description` of some rows is not read: it was written from the diagnosis.
 */
import type { z } from 'zod'
import { type Case, primaryDiagnosis } from '../../case.js'
import { caseSchema } from '../../storage/case-schema.js'
import { detectLanguage } from '../../text/word-stems.js'
import type { Language } from '../../turn.js'
import { reportLeaks } from '../leaks/leak.js'
import type { ImportReport, ImportResult } from './import-report.js'
import { type Consultation, readConsultations } from './mtmeddialog-rows.js'
import { recordedDemographics } from './recorded-demographics.js'
import { parseRecordedGold } from './recorded-gold.js'

const licence =
  'The repository the file comes from is Apache-2.0; it does not restate the terms of the corpora it was translated from (IMCS-21, CHIP-MDCFNPC, MedDG). Keep cases made from it to yourself.'

/** What a patient would ask and a doctor would answer: the translation took one for the other. */
const asksAdvice =
  /\b(?:what should (?:we|i)|should (?:we|i)|can (?:we|i) (?:take|give|eat|use)|is it serious|my (?:child|baby|son|daughter))\b|怎么办|能吃|严重吗/i
const givesAdvice =
  /\b(?:you (?:should|can|need|could|may)|you'll|i (?:recommend|suggest)|try (?:to|giving))\b|建议|你可以|您可以/i

/** Findings of the recorded exchanges; warns of each that is incomplete or has its speakers swapped, and skips it. */
function toFindings(
  { patient_information }: Consultation,
  language: Language,
  warn: (message: string) => void,
): z.input<typeof caseSchema>['findings'] {
  return patient_information.flatMap(({ doctor_question, patient_response }, i) => {
    const id = `exchange-${i + 1}`
    if (!doctor_question || !patient_response) {
      warn(`${id} has no recorded ${doctor_question ? 'answer' : 'question'} and was left out`)
      return []
    }
    if (asksAdvice.test(doctor_question) && givesAdvice.test(patient_response)) {
      warn(`${id} has its speakers swapped and was left out`)
      return []
    }
    return {
      id,
      kind: 'symptom',
      state: 'present',
      knownBy: 'patient',
      weight: 1,
      question: { [language]: doctor_question },
      utterance: { [language]: patient_response },
    } as const
  })
}

const provenance = {
  source: 'MTMedDialog (DoctorAgent-RL)',
  ...{ license: licence, url: 'https://github.com/JarvisUSTC/DoctorAgent-RL' },
  ...{ synthetic: false, redistributable: false },
}

/** The case of a consultation; a reason where it makes none. */
function toCase(
  consultation: Consultation,
  warn: (message: string) => void,
): { readonly truth: Case } | { readonly reason: string } {
  const { ground_truth, description, patient_information } = consultation
  const said = patient_information.map((exchange) => exchange.patient_response)
  const { demographics, text, tags } = recordedDemographics(
    description,
    patient_information.map((one) => ({
      question: one.doctor_question,
      answer: one.patient_response,
    })),
  )
  const language = detectLanguage([text, ...said].join(' '))
  const { diagnosis, recommendation } = ground_truth
  const { gold, found } = parseRecordedGold(diagnosis, recommendation, language)
  if (!found)
    return { reason: `expected a diagnosis that names a disease, got ${JSON.stringify(diagnosis)}` }
  if (tags === 0 && !demographics.age && !demographics.sex)
    warn('the description gives neither sex nor age')
  if (tags > 1) warn(`the description gives sex and age ${tags} times; the last one was taken`)
  if (!recommendation) warn('no recommendation was recorded')
  const findings = toFindings(consultation, language, warn)
  if (findings.length === 0)
    return { reason: 'expected an exchange that the patient answers, got none' }
  const truth = caseSchema.parse({
    schema: 'bedside-case/1',
    id: consultation.id,
    provenance,
    demographics: tags > 1 ? { ...demographics, speaker: 'caregiver' } : demographics,
    chiefComplaint: { text: { [language]: text }, findings: [] },
    findings,
    exams: [],
    examDefault: 'unavailable',
    gold,
  })
  return { truth }
}

/** Whether a recorded diagnosis says more than the name that was taken from it. */
const wasCut = ({ gold }: Case, diagnosis: string): boolean =>
  !Object.values(primaryDiagnosis(gold).name).some(
    (name) => name?.toLowerCase() === diagnosis.toLowerCase().replace(/[.。]\s*$/, ''),
  )

/**
 * Imports a file of MTMedDialog, whichever of its formats it has. Cases come in the order of their first rows; a
 * consultation has the same id in every file that contains it.
 * @throws Fault `bad-input` when the file is missing, damaged, or of none of the formats
 */
export async function importMtmeddialog(path: string): Promise<ImportResult> {
  const { rows, consultations, skipped } = await readConsultations(path)
  const warnings: ImportReport['warnings'][number][] = []
  const refused: ImportReport['skipped'][number][] = []
  const cases: Case[] = []
  let cut = 0
  for (const consultation of consultations) {
    const { row, id, ground_truth, goldPath } = consultation
    const made = toCase(consultation, (message) =>
      warnings.push({ row, message: `${id}: ${message}` }),
    )
    if ('reason' in made) refused.push({ row, path: goldPath, reason: made.reason })
    else {
      cases.push(made.truth)
      if (wasCut(made.truth, ground_truth.diagnosis)) cut++
    }
  }
  if (cut > 0)
    warnings.push({
      message: `${cut} diagnoses were sentences and were cut to the diseases they name`,
    })
  if (refused.length > 0)
    warnings.push({
      message: `${refused.length} consultations were refused, most because their diagnosis names no disease`,
    })
  return {
    cases,
    report: {
      ...{ format: 'mtmeddialog', ok: cases.length, rows, warnings },
      skipped: [...skipped, ...refused].sort((a, b) => a.row - b.row),
      ...{ leaks: reportLeaks(cases), licence, redistributable: false },
    },
  }
}
