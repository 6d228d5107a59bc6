import type { Explanation } from '../access/explain/explain.ts'
import type { FieldExplanation } from '../access/explain/explain-field.ts'

/** The reason for a permission as a sentence; null if the quoted line is enough. */
export function reasonOf({ why, allowed, action, subject, holder }: Explanation): string | null {
  const on = `\`${action}\` of \`${subject.name}\``
  switch (why.kind) {
    case 'declared':
      return allowed ? everySentence(why.everyType, why.everyAction) : `\`false\` takes ${on} away.`
    case 'implied':
      return `\`${why.by}\` implies \`${action}\`${why.by === 'create' ? ' of what it creates' : ''}, as no line names \`${action}\` of \`${subject.name}\`.`
    case 'open':
      return allowed
        ? 'Open to everybody, as `public` does not name `auth`.'
        : `${on} is never open to everybody: a role has to name it.`
    case 'token-type':
      return `The type of the token \`${holder.key}\` says so.`
    case 'userless':
      return `${on} concerns the caller's own user, and ${holder.kind === 'token' ? 'an API token' : 'a request without a token'} has none.`
    case 'undeclared':
      return 'No line grants it, and what is not granted is forbidden.'
  }
}

function everySentence(everyType: boolean, everyAction: boolean): string | null {
  if (everyType && everyAction) return '`"*"` matches every content-type, and for every action.'
  if (everyType) return '`"*"` matches every content-type.'
  return everyAction ? '`"*"` matches every action.' : null
}

/** Why an attribute may not be read or written; null if it may. */
export function fieldReasonOf({ reason, attribute, target }: FieldExplanation): string | null {
  switch (reason) {
    case 'covered':
    case 'action':
      return null
    case 'not-covered':
      return 'outside `fields`'
    case 'private':
      return 'private, so never readable'
    case 'password':
      return 'a password, which never leaves the server'
    case 'target':
      return `it leads to \`${target?.subject.name}\`, of which \`find\` is not granted`
    case 'system':
      return 'made by the server'
    case 'not-writable':
      return '`writable: false`'
    case 'set':
      return `the server sets \`${attribute.name}\` itself`
    case 'beyond':
      return 'a write sets what it leads to, and changes nothing there'
  }
}
