import { definePolicy, PolicyError, ValidationError } from 'plinth'

const HANGS: Promise<boolean> = new Promise(() => {})

const BEHAVIOURS: Readonly<Record<string, () => unknown>> = {
  true: () => true,
  undefined: () => undefined,
  later: async () => true,
  false: () => false,
  null: () => null,
  zero: () => 0,
  one: () => 1,
  text: () => 'true',
  object: () => ({}),
  'false-later': async () => false,
  throws: () => {
    throw new TypeError('the inside of the policy')
  },
  'throws-nothing': () => {
    throw undefined
  },
  rejects: async () => {
    throw new ValidationError('the inside of the policy')
  },
  forgotten: () => {
    void Promise.reject(new Error('the inside of a promise'))
    return true
  },
  hangs: () => HANGS,
  hostile: () =>
    Object.defineProperty({}, 'then', {
      get: () => {
        throw new Error('no')
      },
    }),
  details: () => {
    throw new PolicyError('Not on Sundays', { day: 'Sunday' })
  },
}

export default definePolicy(context => {
  const name = context.args.policy
  return (typeof name === 'string' ? BEHAVIOURS[name]?.() : true) as boolean | undefined
})
