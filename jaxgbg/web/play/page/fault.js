// An error of a request; `gone` if the server does not answer.
export class Fault extends Error {
  constructor(words, gone) {
    super(words);
    this.gone = gone;
  }
}
