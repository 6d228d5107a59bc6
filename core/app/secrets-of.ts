import { urlsOf } from '../database/connect/target-url.ts'
import type { Settings } from '../project/settings/settings.ts'

/** Whatever a log must not show, wherever it comes from. Passwords of urls count by themselves too. */
export const secretsOf = ({ auth, apiTokens, database, upload }: Settings): readonly string[] =>
  [
    auth.jwtSecret,
    ...Object.values(apiTokens).flatMap(({ secret, hash }) => [secret ?? '', hash ?? '']),
    ...[...urlsOf(database.url), ...database.replicas, auth.mail.url ?? ''].flatMap(passwordOf),
    String(upload.providerOptions.secretAccessKey ?? ''),
  ].filter(secret => secret !== '')

function passwordOf(url: string): readonly string[] {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || parsed.password === '') return []
  const plain = new URLSearchParams(`password=${parsed.password.replaceAll('+', '%2B')}`).get('password')
  return [parsed.password, plain ?? '']
}
