/** A question to an ability that cannot be answered: an unknown name, or a document without the values that decide. */
export class AbilityError extends Error {
  override readonly name = 'AbilityError'
}
