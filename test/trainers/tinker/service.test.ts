import { describe, expect, test } from 'vitest'
import { getProfile } from '../../../src/trainers/tinker/profile.js'
import { connectTinker } from '../../../src/trainers/tinker/service.js'
import { faultOf, tinkerClients, tinyCapabilities } from '../../fixtures/tinker-client.js'
import { tinkerServer } from '../../fixtures/tinker-server.js'

const { client, open } = tinkerClients()

describe('connecting', () => {
  test('opens a session and says what the server is', async () => {
    const { service, bodies } = await client()
    expect(service.profile.name).toBe('bedside')
    expect(service.dialect).toBe('protobuf')
    expect(service.models).toEqual([{ name: 'tiny', contextLength: 64 }])
    // A server that does not name its loss settings has none.
    expect(service.extensions).toEqual({ ...tinyCapabilities, lossSettings: {} })
    expect(bodies('/api/v1/client/config')).toEqual([{ sdk_version: '0.38.0' }])
    expect(bodies('/api/v1/create_session')).toEqual([
      { type: 'create_session', tags: ['bedside'], user_metadata: {}, sdk_version: '0.38.0' },
    ])
  })

  test('takes the narrower of what is known and what the server says', async () => {
    const config = { fwdbwd_max_chunk_len: 3, fwdbwd_max_chunk_bytes_count: 10 ** 9, other: true }
    const { profile } = (await client({ config })).service
    expect(profile).toEqual({ ...getProfile('bedside'), maxDatums: 3, maxBytes: 4000 })
  })

  test('keeps the session alive, and stops with it', async () => {
    const { service, bodies } = await client({}, { heartbeatMs: 5 })
    await expect.poll(() => bodies('/api/v1/session_heartbeat').length).toBeGreaterThan(2)
    await service[Symbol.asyncDispose]()
    const beats = bodies('/api/v1/session_heartbeat').length
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(bodies('/api/v1/session_heartbeat').length).toBeLessThanOrEqual(beats + 1)
  })

  test('to a server that is none of ours needs its name', async () => {
    const { baseUrl, token, close, requests } = await tinkerServer()
    open.push(close)
    const fault = await faultOf(connectTinker({ baseUrl, token }))
    expect(fault.code).toBe('bad-input')
    expect(fault.message).toContain('is no sidecar of ours')
    expect(fault.message).toContain('skyrl-jax')
    const service = await connectTinker({ baseUrl, token, profile: 'verl-tinker' })
    open.push(() => service[Symbol.asyncDispose]())
    expect(service.extensions).toBeUndefined()
    expect(service.dialect).toBe('json')
    expect(requests.filter(({ route }) => route.startsWith('/ext'))).toHaveLength(1)
  })

  test('with a wrong token says so, without the token', async () => {
    const fault = await faultOf(client({}, { token: 'tml-wrong' }))
    expect(fault.code).toBe('bad-input')
    expect(fault.message).toMatch(
      /^GET http:\/\/127\.0\.0\.1:\d+\/ext\/v1\/capabilities: 401: .*unknown token \[token\] \(the token is not the one this server wants\)$/,
    )
  })

  test('without a token, or to what is no address, fails before anything is sent', async () => {
    const at = 'http://127.0.0.1:1'
    const none = await faultOf(connectTinker({ baseUrl: at, apiKeyEnv: 'BEDSIDE_TEST_ABSENT' }))
    expect(none.message).toBe(
      "Expected the server's token in $BEDSIDE_TEST_ABSENT, which is not set",
    )
    const bad = await faultOf(connectTinker({ baseUrl: 'ftp://x', token: 'tml-x' }))
    expect(bad.message).toBe('Expected an http(s) address of a server, got `ftp://x`')
    const secret = await faultOf(connectTinker({ baseUrl: 'http://u:pw@host', token: 'tml-x' }))
    expect(secret.message).not.toContain('pw')
    await expect(connectTinker({ baseUrl: at, token: 'tml-x', profile: 'x' })).rejects.toThrow(
      RangeError,
    )
  })

  test('to nobody is a fault that names the address', async () => {
    const { baseUrl, close } = await tinkerServer()
    close()
    const fault = await faultOf(
      connectTinker({ baseUrl, token: 'tml-x', maxRetries: 1, backoffMs: 1 }),
    )
    expect(fault.code).toBe('model-unavailable')
    expect(fault.message).toContain(`GET ${baseUrl}/ext/v1/capabilities: fetch failed: `)
  })
})
