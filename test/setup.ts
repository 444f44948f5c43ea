/** Property tests draw from one fixed seed, so that a run is the same everywhere; `bench/properties.js` gives fresh ones. */
import fc from 'fast-check'

const { PROPERTY_SEED = '1' } = process.env
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(PROPERTY_SEED) })
