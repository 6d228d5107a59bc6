// As Plinth in bench/project: no line for each request.
module.exports = { level: 'warn' }
