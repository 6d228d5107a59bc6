import type { ExecutionContext } from 'ava'

/**
 * How many attacks each table of this folder has. A table with another number fails its test (`attacksOn`), so their sum is the
 * number of attacks that run.
 */
export const ATTACKS: Readonly<Record<Target, number>> = {
  'tokens of an issuer': 52,
  'strange tokens of an issuer': 92,
  'key sets of an issuer': 19,
  'session tokens': 10,
  'answers of a hostile provider': 39,
  'addresses of users at a provider': 40,
  'pages to return to': 61,
  'ignored parameters of the begin': 20,
  'answers that reach the API': 41,
  'requests to a real provider': 17,
  'codes of the front-end': 25,
  'API keys': 36,
  'requests for API keys': 21,
}

type Target =
  | 'tokens of an issuer'
  | 'strange tokens of an issuer'
  | 'key sets of an issuer'
  | 'session tokens'
  | 'answers of a hostile provider'
  | 'addresses of users at a provider'
  | 'pages to return to'
  | 'ignored parameters of the begin'
  | 'answers that reach the API'
  | 'requests to a real provider'
  | 'codes of the front-end'
  | 'API keys'
  | 'requests for API keys'

/** The attacks of one table by their names. */
export function attacksOn<Attack>(
  t: ExecutionContext,
  target: Target,
  attacks: Readonly<Record<string, Attack>>,
): readonly (readonly [name: string, attack: Attack])[] {
  const entries = Object.entries(attacks)
  t.is(entries.length, ATTACKS[target], `ATTACKS in attacks.ts says how many attacks on ${target} there are`)
  return entries
}
