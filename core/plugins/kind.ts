/** Tells what define… made from anything else; registered, so that two copies of the package know each other's. */
export const KIND: unique symbol = Symbol.for('plinth.plugin')
