import { describe, expect, test } from 'vitest'
import { decodeElements, elementTypes } from '../../../../src/trainers/tinker/codec/numbers.js'
import {
  bytesField,
  doubleField,
  intField,
  joinBytes,
  messageField,
  parseFields,
  textField,
  varint,
} from '../../../../src/trainers/tinker/codec/protobuf.js'
import {
  encodeProtobufDatum,
  encodeProtobufPass,
  parseProtobufForward,
  parseProtobufSample,
} from '../../../../src/trainers/tinker/codec/protobuf-messages.js'
import { fc } from '../../../fixtures/property.js'
import { readPass, writeForward, writeSampled } from '../../../fixtures/tinker-protobuf.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Captured from the official SDK 0.38.0. */
const golden =
  '0a016d10031a640a100a0e0a0c010000000200000003000000121e0a077765696768747312130a0c000000000000803f0000803f180122010312300a0d7461726765745f746f6b656e73121f0a180200000000000000030000000000000004000000000000001802220103220370706f2a1d0a12636c69705f6c6f775f7468726573686f6c64119a9999999999e93f3a1f0a12636c69705f6c6f775f7468726573686f6c641209099a9999999999e93f'

describe('a request in protobuf', () => {
  test("is the official SDK's, byte for byte", () => {
    const datum = encodeProtobufDatum({
      tokens: Int32Array.of(1, 2, 3),
      inputs: {
        weights: Float32Array.of(0, 1, 1),
        target_tokens: BigInt64Array.of(2n, 3n, 4n),
      },
    })
    const request = encodeProtobufPass({
      modelId: 'm',
      seq: 3,
      data: [datum],
      loss: { name: 'ppo', config: { clip_low_threshold: 0.8 } },
      forwardOnly: false,
    })
    expect(hex(request)).toBe(golden)
  })

  test('is read back as it was', () => {
    const word = fc.string({ minLength: 1 })
    const value = fc.oneof(fc.float({ noNaN: true }).map(Number), fc.string({ minLength: 1 }))
    const datum = fc.record({
      tokens: fc.int32Array({ minLength: 1, min: 0 }),
      floats: fc.float32Array({ noNaN: true, noDefaultInfinity: true }),
      ints: fc.int32Array(),
    })
    fc.assert(
      fc.property(
        fc.array(datum),
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.dictionary(word, value, { noNullPrototype: true }),
        fc.boolean(),
        (data, seq, config, forwardOnly) => {
          const encoded = data.map(({ tokens, floats, ints }) =>
            encodeProtobufDatum({ tokens, inputs: { floats, ints } }),
          )
          const loss = { name: 'bedside', config }
          const bytes = encodeProtobufPass({
            modelId: 'é:1',
            seq,
            data: encoded,
            loss,
            forwardOnly,
          })
          const expected = data.map(({ tokens, floats, ints }) => ({
            tokens: [...tokens],
            inputs: { floats: [...floats], ints: [...ints] },
          }))
          expect(readPass(Buffer.from(bytes))).toEqual({
            model_id: 'é:1',
            seq_id: seq,
            pass: { data: expected, loss: 'bedside', config, forwardOnly },
          })
        },
      ),
      { numRuns: 50 },
    )
  })

  test('has integers of any sign as varints', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const [field] = parseFields(intField(5, value))
        expect(field).toEqual({ number: 5, value })
      }),
    )
    expect(hex(varint(300))).toBe('ac02')
    expect(() => varint(0.5)).toThrow('Expected an integer, got 0.5')
  })
})

describe('a result in protobuf', () => {
  const numbers = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }).map(Math.fround))

  test('of a pass is read as it was written, whatever the lengths', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(numbers, numbers), { minLength: 1 }),
        fc.double({ noNaN: true }),
        (data, loss) => {
          const outputs = data.map(([logprobs, entropies]) => ({ logprobs, entropies }))
          const read = parseProtobufForward(
            writeForward({ outputs, metrics: { 'loss:sum': loss } }),
          )
          expect(read.metrics).toEqual({ 'loss:sum': loss })
          expect(read.outputs).toEqual(
            data.map(([logprobs, entropies]) => ({
              logprobs: Float32Array.from(logprobs),
              entropies: Float32Array.from(entropies),
            })),
          )
        },
      ),
      { numRuns: 50 },
    )
  })

  test('of a sample is read as it was written', () => {
    const sequence = { tokens: [5, 6], logprobs: [-0.5, -1], stop_reason: 'length' as const }
    const stopped = { tokens: [2], logprobs: [-0.25], stop_reason: 'stop' as const }
    const bytes = writeSampled({ sequences: [sequence, stopped], prompt: [Number.NaN, -2] })
    expect(parseProtobufSample(bytes)).toEqual({
      sequences: [
        { tokens: [5, 6], logprobs: [-0.5, -1], stopReason: 'length' },
        { tokens: [2], logprobs: [-0.25], stopReason: 'stop' },
      ],
      promptLogprobs: Float32Array.of(Number.NaN, -2),
    })
  })

  const int64 = (...values: number[]) => {
    const bytes = Buffer.alloc(values.length * 8)
    for (const [i, value] of values.entries()) bytes.writeBigInt64LE(BigInt(value), i * 8)
    return bytes
  }
  const record = (name: string, data: Uint8Array, offsets: Uint8Array, type: number) =>
    messageField(
      2,
      messageField(
        2,
        textField(1, name),
        messageField(2, bytesField(1, data), bytesField(2, offsets), intField(3, type)),
      ),
    )

  test('may be bfloat16 or integers, in several records, without a count', () => {
    // 1, -2.5 and 0.15625 in bfloat16; the last two are one datum's.
    const halves = Buffer.from('803f20c0203e', 'hex')
    const bytes = joinBytes([
      record('x', halves, int64(0, 2, 6), elementTypes.bfloat16),
      record('x', int64(-3), int64(0, 8), elementTypes.int64),
      messageField(3, textField(1, 'loss:sum'), doubleField(2, 0.1)),
    ])
    expect(parseProtobufForward(bytes)).toEqual({
      outputs: [
        { x: Float32Array.of(1) },
        { x: Float32Array.of(-2.5, 0.15625) },
        { x: Float32Array.of(-3) },
      ],
      metrics: { 'loss:sum': 0.1 },
    })
  })

  test('with fields that are not known yet is read all the same', () => {
    const later = joinBytes([intField(99, 1), doubleField(98, 2), textField(97, 'x')])
    const known = writeSampled({ sequences: [], prompt: undefined })
    expect(parseProtobufSample(joinBytes([later, known]))).toEqual({ sequences: [] })
  })

  test('that is cut off anywhere is refused or shorter, never invented', () => {
    const outputs = [{ logprobs: [-1, -2] }, { logprobs: [-3] }]
    const whole = writeForward({ outputs, metrics: { 'loss:sum': 6 } })
    for (let length = 1; length < whole.length; length++) {
      let read: ReturnType<typeof parseProtobufForward> | undefined
      try {
        read = parseProtobufForward(whole.subarray(0, length))
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
      for (const output of read?.outputs ?? [])
        expect([...(output.logprobs ?? [])]).not.toContain(0)
    }
  })

  test('with offsets outside of its data, or an unknown element type, is refused', () => {
    const data = new Uint8Array(8)
    expect(() => parseProtobufForward(record('x', data, int64(0, 12), 1))).toThrow(
      'Expected offsets within 8 bytes, got 0 to 12',
    )
    expect(() => parseProtobufForward(record('x', data, int64(0, 8), 9))).toThrow(
      'Expected an element type of 1,2,3,4, got 9',
    )
    expect(() => decodeElements(new Uint8Array(6), elementTypes.float32)).toThrow(
      'Expected elements of 4 bytes, got 6 bytes',
    )
  })
})
