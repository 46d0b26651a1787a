
BscoresJ(ќgЖ@иЪЁА2N‹АЮ†ЏАЏi Аъ‚ЫїЄelАI JАЄelА@L1А