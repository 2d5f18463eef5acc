// What goes wrong with a question; `gone` where nobody is there to answer.
export class Fault extends Error {
  constructor(words, gone) {
    super(words);
    this.gone = gone;
  }
}
